"""Safeguards of what people are told: the true reason, no advice that does not help."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

EXPLAIN = "tests/solver/explain"
VOLUMES_TOLD = "tests/k8s_bridge/scheduling/test_volumes_told.py"
WAITS = "tests/k8s_bridge/reporting/test_pod_scheduled.py"
CHURN = "tests/k8s_bridge/reporting/test_churn.py"
THROTTLED = "tests/k8s_bridge/scheduling/test_throttled_bindings.py"

TOLD = (
    Mutant(
        "told: evict only where that gives a place",
        "members that run are evicted as advised, and wait with all others",
        "solver/explain/bound_elsewhere.py",
        "        if busy.fits_after:\n",
        "        if not first:\n",
        f"{EXPLAIN}/test_bound_elsewhere.py"
        "::test_no_eviction_is_advised_before_there_is_another_place",
    ),
    Mutant(
        "told: an API server that throttles",
        "people look for a slow webhook where there is none",
        "k8s_bridge/ledger/binding_trials.py",
        "self.throttled = throttles(error)",
        "self.throttled = False",
        f"{THROTTLED}::test_an_api_server_that_throttles_is_no_slow_webhook",
    ),
    Mutant(
        "told: a webhook that says 429",
        "people look at the API server where a webhook is why",
        "k8s_bridge/ledger/dry_run.py",
        'return error.status == 429 and "admission webhook" not in str(error)',
        "return error.status == 429",
        f"{THROTTLED}::test_a_webhook_that_says_429_is_no_busy_api_server",
    ),
    Mutant(
        "told: a volume that takes long",
        "a gang says nothing for ten minutes while it holds its nodes",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "                self.watcher.late(member, volume)\n",
        "                pass\n",
        f"{VOLUMES_TOLD}::test_a_gang_says_soon_which_volume_it_waits_for",
    ),
    Mutant(
        "told: one claim of a gang at a time",
        "thousands of claims that are late write thousands of times to thousands of pods",
        "k8s_bridge/ledger/volumes/awaited_volumes.py",
        "if told is None or (told.over and now - told.at >= RETELL_SECONDS):",
        "if told is None or told.volume.claim != volume.claim:",
        f"{VOLUMES_TOLD}::test_a_gang_says_soon_which_volume_it_waits_for",
    ),
    Mutant(
        "told: a volume that did not come is no refusal",
        "people look for what refuses a binding that was never asked for",
        "k8s_bridge/wiring.py",
        "BackoffCause(ReasonKind.VOLUMES_AWAITED, missed.step) if missed else REFUSED",
        "REFUSED",
        f"{VOLUMES_TOLD}::test_a_volume_that_did_not_come_is_no_refusal",
    ),
    Mutant(
        "told: nodes that a taint leaves out",
        "half of the fabric is not for a gang, which is told that nothing is free",
        "solver/explain/explain.py",
        "        reason = replace(reason, counts=(*reason.counts, *as_counts(left_out)))\n",
        "",
        f"{EXPLAIN}/test_tainted_nodes.py::test_a_taint_is_named_where_enough_other_nodes_match",
    ),
    Mutant(
        "told: uncordon no more than it takes",
        "nodes that are being repaired are put back into service for nothing",
        "solver/explain/free_room.py",
        "            return node in last\n",
        "            return 0\n",
        f"{EXPLAIN}/test_let_in.py::test_only_nodes_that_it_takes_are_named",
    ),
    Mutant(
        "told: the taint of a cordon is no other hindrance",
        "on a real cluster, where each cordoned node has a taint, none is ever named",
        "solver/explain/left_out.py",
        "role.constraint.untolerated(own_taints(node).taints)",
        "role.constraint.untolerated(node.taints)",
        f"{EXPLAIN}/test_let_in.py::test_a_cordoned_node_leads_where_it_is_all_that_is_missing"
        "[as the control plane taints]",
    ),
    Mutant(
        "told: a refusal has one line",
        "a namespace that is being deleted fills the log",
        "k8s_bridge/reporting/recorder/refusal_log.py",
        "            known.more += 1\n            return\n",
        "            known.more += 1\n",
        "tests/k8s_bridge/reporting/test_refusal_log.py"
        "::test_a_namespace_that_ends_has_one_line_for_all_its_pods",
    ),
    Mutant(
        "told: who has ended is named no more",
        "a gang is told to wait for a gang that has ended",
        "k8s_bridge/reporting/conditions/retelling.py",
        "    return bool(gone) and not gone <= named()\n",
        "    return False\n",
        f"{WAITS}::test_another_gang_to_wait_for_is_told_at_once"
        "_and_its_event_a_minute_after_the_first",
    ),
    Mutant(
        "told: who has ended, once a minute",
        "a tenant whose pods come and go has the conditions of all that wait written each time",
        "k8s_bridge/reporting/conditions/retelling.py",
        "if now - said.hastened_at < RETELL_SECONDS or newest == said.text:",
        "if newest == said.text:",
        f"{CHURN}::test_who_was_named_and_has_ended_is_named_no_more[one answer]",
    ),
    Mutant(
        "told: another nearest leaf in a minute",
        "one pod that comes and goes has the conditions of a whole queue written each time",
        "k8s_bridge/reporting/conditions/retelling.py",
        "newest.gist != earlier.gist",
        "words != earlier.words",
        f"{CHURN}::test_a_pod_comes_and_goes_beside_a_queue",
    ),
    Mutant(
        "told: another step at once",
        "for a minute a team waits for what it could end itself",
        "k8s_bridge/reporting/conditions/retelling.py",
        "newest.gist != earlier.gist",
        "False",
        f"{CHURN}::test_another_step_is_told_at_once",
    ),
    Mutant(
        "told: how many of a wide gang exist, in a minute",
        "one pod that comes and goes has the conditions of thousands written for ever",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "is_prompt = awaits and len(seen) <= PROMPT_PODS",
        "is_prompt = awaits",
        f"{CHURN}::test_one_member_of_many_comes_and_goes",
    ),
    Mutant(
        "told: only to pods that changed",
        "each condition written has those of thousands worked out anew, and all else waits",
        "k8s_bridge/reporting/conditions/member_patches.py",
        "if at not in before or before[at] is not pod]",
        "]",
        f"{CHURN}::test_only_pods_that_changed_are_worked_out_anew",
    ),
    Mutant(
        "told: an event of other words is another event",
        "the first note of a gang is shown as new for as long as it waits",
        "k8s_bridge/reporting/events/waiting_gangs.py",
        "        topic=said.event_words,\n",
        "        topic=said.kind.value,\n",
        f"{WAITS}::test_another_gang_to_wait_for_is_told_at_once"
        "_and_its_event_a_minute_after_the_first",
    ),
    Mutant(
        "told: without a cycle",
        "in a quiet cluster, what was held back for a minute is never told",
        "k8s_bridge/reporting/reporter.py",
        "            self._tell_again(scheduler.clock.wall())\n",
        "",
        "tests/k8s_bridge/test_scheduler.py"
        "::test_what_was_held_back_is_told_a_minute_later_without_a_cycle",
    ),
    Mutant(
        "told: several smaller pods on one node",
        "a team is told to ask for none of what four nodes have plenty of",
        "solver/explain/no_matching_nodes.py",
        "        nodes = [*gained, *(one.node for one in matching)]\n",
        "        nodes = gained\n",
        f"{EXPLAIN}/test_no_matching_nodes.py"
        "::test_less_is_asked_for_where_a_node_holds_more_of_smaller_pods",
    ),
    Mutant(
        "told: words of an earlier loss",
        "a gang on a node that is down is told of a repair that is over",
        "cli/cluster/not_repaired.py",
        " or (seconds_of(_seen(last)) or 0.0) < since:",
        ":",
        "tests/cli/test_why.py::test_why_a_gang_stays_with_lost_members",
    ),
    Mutant(
        "told: a cordon moves no gang",
        "a gang that runs on a cordoned node is said to wait for a repair",
        "cli/cluster/trouble_since.py",
        "    return None if silent is None else now - silent\n",
        "    return -inf if silent is None else now - silent\n",
        "tests/cli/test_trouble_since.py::test_the_trouble_of_a_node[cordoned]",
    ),
    Mutant(
        "told: no start of what may not be bound",
        "a gang whose volume never comes is said to start now",
        "model/start.py",
        "or told.kind not in OF_BINDING:",
        "or True:",
        "tests/cli/test_why.py::test_no_start_is_foreseen_of_what_may_not_be_bound",
    ),
    Mutant(
        "told: members that are on their way",
        "most new Jobs have a warning that says to create the pods that are being created",
        "k8s_bridge/reporting/conditions/retelling.py",
        "    return _quiet(said, quiet_until) if now < quiet_until else said\n",
        "    return said\n",
        f"{WAITS}::test_members_that_are_on_their_way_are_no_event_yet",
    ),
    Mutant(
        "told: a gang that runs does not start",
        "a team whose gang runs with fewer members is told when it starts",
        "solver/relocation/explain.py",
        "    return of_one_that_runs(reason) if one.live else reason\n",
        "    return reason\n",
        "tests/solver/relocation/test_explain.py"
        "::test_a_gang_that_runs_is_told_what_makes_it_whole",
    ),
    Mutant(
        "told: budgets that forbade a preemption an hour ago",
        "a gang is told to raise budgets that no longer keep others from making way",
        "cli/cluster/not_preempting.py",
        " if seen and now - seen < VALID_SECONDS else ",
        " if seen else ",
        "tests/cli/test_why.py::test_what_keeps_others_from_making_way",
    ),
)
"""All of them."""
