"""Safeguards that keep what one tenant refuses from costing others."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

REFUSED = "tests/k8s_bridge/relocation/test_refused_evictions.py"
IN_SPITE = "tests/k8s_bridge/relocation/test_refused_in_spite.py"
SLOW = "tests/k8s_bridge/relocation/test_slow_evictions.py"
ENDING = "tests/k8s_bridge/relocation/test_ending_pods.py"
VOLUMES = "tests/k8s_bridge/scheduling/test_volumes.py"

REFUSED_EVICTIONS = (
    Mutant(
        "evictions that are throttled, again and again",
        "a node is not emptied for minutes after the API stopped to throttle",
        "k8s_bridge/relocation/executor.py",
        "EVICTION_RETRY_LIMIT_SECONDS = 30.0",
        "EVICTION_RETRY_LIMIT_SECONDS = 300.0",
        f"{REFUSED}::test_an_eviction_that_is_throttled_is_asked_again_twice_in_half_a_minute",
    ),
    Mutant(
        "rollbacks that are forbidden, again and again",
        "a gang whose budget allows it by now waits ten minutes to be taken back",
        "k8s_bridge/ledger/reconciler.py",
        "ROLLBACK_WAIT_LIMIT_SECONDS = 60.0",
        "ROLLBACK_WAIT_LIMIT_SECONDS = 600.0",
        "tests/k8s_bridge/ledger/test_commit.py"
        "::test_a_budget_that_never_allows_is_asked_twice_a_minute",
    ),
    Mutant(
        "bindings that were refused",
        "pods are evicted once a minute for a gang that the API refuses",
        "k8s_bridge/ledger/binding_trials.py",
        "REFUSAL_REMEMBERED_SECONDS = 600.0",
        "REFUSAL_REMEMBERED_SECONDS = 60.0",
        "tests/k8s_bridge/ledger/test_binding_trials.py"
        "::test_what_was_refused_counts_for_ten_minutes",
    ),
    Mutant(
        "turns of evictions",
        "trials that hang in one webhook take all turns of writes, and no gang is bound",
        "k8s_bridge/relocation/evictions/trials.py",
        "        async with self.turns.turn(pod.namespace):\n",
        "        if pod:\n",
        f"{REFUSED}::test_trials_that_hang_leave_writes_their_turns",
    ),
    Mutant(
        "patience with evictions",
        "one victim whose eviction hangs stops every other relocation",
        "k8s_bridge/relocation/executor.py",
        "await patiently(sent, self.clock.sleep(EVICTION_PATIENCE_SECONDS))",
        "await patiently(sent, self.clock.sleep(1000 * EVICTION_PATIENCE_SECONDS))",
        f"{REFUSED}::test_evictions_that_hang_stop_no_other_relocation",
    ),
    Mutant(
        "victims that cannot be told to go",
        "a gang waits ten minutes for a victim whose webhook answers nothing",
        "k8s_bridge/relocation/next_action.py",
        "        return view.idle_for(one) >= TOLD_SECONDS or is_too_long",
        "        return is_too_long",
        f"{REFUSED}::test_evictions_that_hang_stop_no_other_preemption",
    ),
    Mutant(
        "one wait for all evictions of a step",
        "each of a tenant's relocations whose eviction hangs holds the others up for a second",
        "k8s_bridge/relocation/executor.py",
        "                begun += self._begun_to_tell(one, due, view, sent)\n",
        "                begun += self._begun_to_tell(one, due, view, sent)\n"
        "                await self.clock.sleep(EVICTION_PATIENCE_SECONDS)\n",
        f"{REFUSED}::test_many_relocations_that_hang_are_waited_for_once",
    ),
    Mutant(
        "evictions that were not sent",
        "an eviction that its relocation's end kept back counts as under way, and is never sent",
        "k8s_bridge/relocation/executor.py",
        "        for one in due:\n",
        "        for one in due:\n            asked[one.pod.uid].is_sent = True\n",
        f"{REFUSED}::test_an_eviction_that_was_kept_back_is_sent_later",
    ),
    Mutant(
        "refusals in a row",
        "a gang whose victims are refused one by one is planned every second, as long as it waits",
        "k8s_bridge/relocation/preemption.py",
        "            if self._refused[gang.key] % REFUSALS_IN_A_ROW:\n",
        "            if self._refused[gang.key]:\n",
        f"{REFUSED}::test_a_gang_whose_victims_may_not_go_is_not_planned_all_the_time",
    ),
    Mutant(
        "errors that pass are no refusals",
        "one throttled trial keeps a pod on a node that is to be emptied for a minute",
        "k8s_bridge/relocation/evictions/dry_run.py",
        "                if is_forbidden(error):\n",
        "                if str(error):\n",
        f"{REFUSED}::test_an_error_that_passes_is_no_refusal[throttled]",
    ),
    Mutant(
        "webhooks that deny by any status",
        "a gang loses all members but one, which a webhook keeps by 409, and another goes too",
        "k8s_bridge/relocation/evictions/forbidden.py",
        "isinstance(error, NotFound | Conflict) and BY_ADMISSION not in str(error)",
        "isinstance(error, NotFound | Conflict)",
        f"{IN_SPITE}::test_a_webhook_may_deny_by_any_status[foreseen-409]",
    ),
    Mutant(
        "refusals that others interrupt",
        "two bad moments of a webhook end a preemption whose other victims have gone",
        "k8s_bridge/relocation/executor.py",
        "            asked.refusals.interrupted()\n",
        "            pass\n",
        f"{IN_SPITE}::test_two_bad_moments_are_no_last_word",
    ),
    Mutant(
        "who is kept in spite of a dry run, without a refusal",
        "living pods are evicted every three minutes beside one that the API never lets go",
        "k8s_bridge/relocation/executor.py",
        "            spite = asked[leaver].is_heard\n",
        "            spite = False\n",
        f"{IN_SPITE}::test_who_is_put_off_in_spite_of_a_dry_run_costs_others_once[500]",
    ),
    Mutant(
        "who was asked to go at all",
        "all that stand count as kept, so that all are told to go at once the next time",
        "k8s_bridge/relocation/executor.py",
        "        for leaver in begun or there:\n",
        "        for leaver in there:\n",
        f"{IN_SPITE}::test_who_is_put_off_in_spite_of_a_dry_run_costs_others_once[500]",
    ),
    Mutant(
        "places that are no longer kept",
        "a gang that budgets keep waiting is asked about ten minutes after it has room",
        "k8s_bridge/relocation/evictions/forbidden_gangs.py",
        "            and known.kept <= kept\n",
        "",
        "tests/k8s_bridge/relocation/test_eviction_limits.py"
        "::test_a_place_that_is_no_longer_kept_is_minded_at_once",
    ),
    Mutant(
        "places that are kept besides",
        "a gang that budgets keep waiting is planned each time that a place is kept for another",
        "k8s_bridge/relocation/evictions/forbidden_gangs.py",
        "            and known.kept <= kept\n",
        "            and known.kept == kept\n",
        "tests/k8s_bridge/relocation/test_forbidden_gangs.py"
        "::test_it_is_asked_again_once_a_place_is_no_longer_kept",
    ),
    Mutant(
        "evictions that make progress",
        "a gang of hundreds that the API lets go slowly is evicted again and again, in part",
        "k8s_bridge/relocation/executor.py",
        "            self.ages.told(one)\n",
        "",
        f"{SLOW}::test_evictions_that_make_progress_are_not_given_up",
    ),
    Mutant(
        "evictions that make progress for too long",
        "a webhook that takes a minute for each pod keeps a gang waiting beside others",
        "k8s_bridge/relocation/next_action.py",
        "        return view.idle_for(one) >= TOLD_SECONDS or is_too_long",
        "        return view.idle_for(one) >= TOLD_SECONDS",
        f"{SLOW}::test_others_make_room_where_evictions_take_ten_minutes[90.0]",
    ),
    Mutant(
        "answers that wait for others",
        "trials of hundreds of pods are asked anew without end, and none goes",
        "k8s_bridge/relocation/evictions/trials.py",
        "            if one.of.left or one.of.ended >= oldest\n",
        "            if not one.done.is_set()\n",
        f"{SLOW}::test_answers_count_however_long_all_of_them_take",
    ),
    Mutant(
        "room of who ends anyway",
        "a gang is evicted though another that is being deleted leaves the same room",
        "k8s_bridge/relocation/preemption.py",
        "        soon = going | self.ending.gone_soon(view.dead)\n",
        "        soon = going\n",
        f"{ENDING}::test_who_ends_anyway_is_room_to_come",
    ),
    Mutant(
        "room of who never ends",
        "a finalizer on one pod that was deleted keeps the most urgent gang waiting for ever",
        "k8s_bridge/relocation/ages.py",
        "            and now - since < _seconds_to_end(self._cache, seen.pod)\n",
        "",
        f"{ENDING}::test_who_never_ends_is_no_room_to_come",
    ),
    Mutant(
        "what is independent of a refusal",
        "a repair is written whose seat is not left",
        "k8s_bridge/relocation/independent.py",
        "if not nodes.isdisjoint(_nodes(one)) or",
        "if",
        f"{REFUSED}::test_what_needs_nothing_of_those_that_may_not_go_holds_without_them",
    ),
    Mutant(
        "defragmentation around those who may not go",
        "one pod that may not go keeps all others from making way until moves are asked for again",
        "k8s_bridge/relocation/defragmentation.py",
        "        self._again = self._refused_plans < REFUSED_PLANS\n",
        "        pass\n",
        f"{REFUSED}::test_others_move_where_one_may_not_go[b]",
    ),
    Mutant(
        "a claim's own failures",
        "a volume that never comes holds nodes for ten minutes each time its neighbours' come",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "        self._own_failures[claim] = min(self._own_failures.pop(claim, 0) + 1, 32)\n",
        "        self._own_failures[claim] = 0\n",
        f"{VOLUMES}::test_a_claim_remembers_its_own_failures",
    ),
    Mutant(
        "late answers to dry runs that come at once",
        "a gang whose dry run is answered right after silence waits until something else happens",
        "k8s_bridge/ledger/binding_trials.py",
        "            trial.is_late = not trial.done.is_set()\n",
        "",
        "tests/k8s_bridge/ledger/test_binding_trials.py"
        "::test_an_answer_at_once_is_heard_where_none_waited",
    ),
    Mutant(
        "evictions end with their relocation",
        "a pod that waits for its slot is evicted for a gang that is gone",
        "k8s_bridge/relocation/executor.py",
        "                if self._is_wanted(one):\n",
        "                if True:\n",
        f"{REFUSED}::test_evictions_that_wait_for_their_slot_end_with_their_relocation",
    ),
    Mutant(
        "nodes that come back",
        "a pod that lives is evicted as lost, because the API had kept it until its node was back",
        "k8s_bridge/relocation/next_action.py",
        "        if leaver.lost and leaver.node not in view.dead:\n",
        "        if False:\n",
        f"{REFUSED}::test_a_node_that_comes_back_keeps_a_pod_that_the_api_has_not_let_go",
    ),
    Mutant(
        "places of which the API does not say whether they are open",
        "a pod that lives is evicted for a node that was cordoned meanwhile",
        "k8s_bridge/relocation/executor.py",
        "        except ClusterError:\n            return None\n",
        '        except ClusterError:\n            return ""\n',
        f"{REFUSED}::test_no_pod_goes_while_the_api_does_not_say_whether_its_place_is_open",
    ),
)
