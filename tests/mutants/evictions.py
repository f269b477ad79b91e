"""Safeguards of evictions: limits, trials before them, and what is said where they forbid."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PREEMPTION = "tests/k8s_bridge/relocation/test_preemption.py"
UNREAD = "tests/k8s_bridge/relocation/test_unread_evictions.py"
CAUSED = "tests/k8s_bridge/relocation/test_caused_evictions.py"
LIMITS = "tests/k8s_bridge/relocation/test_eviction_limits.py"
BUDGETS = "tests/model/readers/pods/test_disruption_budgets.py"
NEEDED = "tests/model/readers/gangs/test_needed_neighbours.py"
FORBIDDEN = "k8s_bridge/relocation/evictions/forbidden_gangs.py"
FORBIDDEN_TESTS = "tests/k8s_bridge/relocation/test_forbidden_gangs.py"
BY_HAND = "tests/solver/relocation/test_eviction_limits.py"
SEEDED = "tests/solver/relocation/test_limits_equal_brute_force.py::test_seeded_instances"

EVICTIONS = (
    Mutant(
        "what a namespace may have evicted while that is not known",
        "a Lease that cannot be read gives each leader a limit of its own",
        "k8s_bridge/relocation/tenants/caused_evictions.py",
        "        if most is not None and self.unread():\n",
        "        if False:\n",
        f"{UNREAD}::test_the_next_leader_gives_no_second_limit",
    ),
    Mutant(
        "evictions that were not read are not written over",
        "what the leaders before have kept is lost for all to come",
        "k8s_bridge/relocation/evictions/history.py",
        "            if self.unread():\n                return\n",
        "",
        f"{UNREAD}::test_it_is_read_again_and_not_written_over",
    ),
    Mutant(
        "a moment for the first answer",
        "no repair while the API does not answer about a Lease of limits",
        "k8s_bridge/relocation/evictions/history.py",
        "self.kept.clock.sleep(LOAD_SECONDS)",
        "self.kept.clock.sleep(UNREAD_SECONDS)",
        f"{UNREAD}::test_a_step_waits_a_moment_for_it",
    ),
    Mutant(
        "budgets in the program",
        "two victims of one budget are chosen, and the gang waits for ever for what is forbidden",
        "solver/relocation/eviction_rows.py",
        "            self._program.at_most([*terms, *over], limit.most - self._always[number])\n",
        "            pass\n",
        f"{LIMITS}::test_other_victims_where_these_may_not_go_together",
    ),
    Mutant(
        "budgets of gangs that are moved in part",
        "a gang moves more members than the budget over some of them lets go",
        "solver/relocation/eviction_rows.py",
        "self._program.row([(1, counted), (-named, all_named)], 0, named)",
        "self._program.row([(1, counted), (-named, all_named)], -named, named)",
        f"{SEEDED}[360-defrag_is_best]",
    ),
    Mutant(
        "budgets of pods that leave a drained node",
        "of two gangs under a budget of one, the second is evicted in part and keeps its place",
        "solver/relocation/formulation.py",
        "                self.evictions.add(number, [(-lost, stay)], lost)\n",
        "                pass\n",
        f"{BY_HAND}::test_a_lost_member_that_may_not_go_keeps_its_gang",
    ),
    Mutant(
        "budgets of gangs all of which leaves a drained node",
        "two pods under a budget of one are evicted, and the second keeps a place in vain",
        "solver/relocation/formulation.py",
        "                self.evictions.add(number, [(lost, tier_class.variable)])\n",
        "                pass\n",
        f"{BY_HAND}::test_lost_members_that_run_still_are_counted",
    ),
    Mutant(
        "the emptiest value of a spread",
        "a gang evicts pods that its topology spread counts, and may not use its place any more",
        "model/readers/gangs/needed_neighbours.py",
        "len(some) - least)",
        "len(some))",
        f"{NEEDED}::test_no_zone_may_have_fewer_than_the_emptiest",
    ),
    Mutant(
        "budgets of gangs that differ alone in their budgets",
        "two gangs of one size are taken for the same, and the one that a budget keeps is evicted",
        "solver/relocation/formulation.py",
        "                    self._limits.counted(mover.standing.gang),\n",
        "",
        f"{BY_HAND}::test_gangs_that_differ_in_their_limits_alone[a-b]",
    ),
    Mutant(
        "the validator's count of evictions",
        "a plan of a solver gone wrong evicts more pods than their budget lets go",
        "model/validator/evictions.py",
        "        if counted > left:\n",
        "        if counted > left + 1:\n",
        f"{BY_HAND}::test_the_validator_counts_victims_too",
    ),
    Mutant(
        "budgets whose status is old",
        "a budget that was made stricter lets healthy pods go by what it said before",
        "model/readers/pods/disruption_budgets.py",
        'known = bool(status) and number("observedGeneration") >= now',
        "known = bool(status)",
        f"{BUDGETS}::test_a_status_older_than_the_spec_lets_no_pod_go",
    ),
    Mutant(
        "two budgets over one pod",
        "victims are evicted until the API answers 500 for the one that two budgets pick",
        "model/readers/pods/disruption_budgets.py",
        'who, most = f"disruption budget {over[0]} beside {over[1]}", 0',
        'who, most = f"disruption budget {over[0]} beside {over[1]}", over[0].allowed',
        f"{BUDGETS}::test_two_budgets_for_one_pod",
    ),
    Mutant(
        "budgets by the thousand",
        "a tenant's 2000 budgets are asked about each of its pods, and the event loop stands still",
        "model/readers/pods/disruption_budgets.py",
        "        if len(asked) > MOST_BUDGETS_ASKED:\n",
        "        if len(asked) > 10 * MOST_BUDGETS_ASKED:\n",
        f"{BUDGETS}::test_thousands_of_budgets_protect_and_cost_little",
    ),
    Mutant(
        "neighbours that a gang needs",
        "a gang evicts the one pod that it must be near, and never starts",
        "k8s_bridge/relocation/preemption.py",
        "eviction_limits(view, lower, self.evictions, (*needed, *kept))",
        "eviction_limits(view, lower, self.evictions, kept)",
        f"{LIMITS}::test_the_pod_that_a_gang_must_be_near_is_no_victim_for_it",
    ),
    Mutant(
        "dry run before evictions",
        "victims are evicted again and again for a gang that the API refuses to bind",
        "k8s_bridge/relocation/preemption.py",
        "            why = await self._refusal(relocation)\n",
        '            why = ""\n',
        f"{PREEMPTION}::test_a_gang_that_the_api_would_refuse_evicts_nobody",
    ),
    Mutant(
        "trials of evictions",
        "three pods of a gang are evicted in vain, as a webhook keeps the fourth",
        "k8s_bridge/relocation/preemption.py",
        "refused = [] if why else await self.evictions.refusals(evicting)",
        "refused = [one for one in await self.evictions.refusals(evicting) if not one]",
        f"{PREEMPTION}::test_another_goes_where_admission_keeps_one",
    ),
    Mutant(
        "memory of refused evictions",
        "a victim that a webhook keeps is chosen and asked for again in every cycle",
        "k8s_bridge/relocation/evictions/limits.py",
        "        *trials.limits(members, unanswered),\n",
        "",
        f"{PREEMPTION}::test_none_goes_where_admission_keeps_one_of_all",
    ),
    Mutant(
        "patience with trials of evictions",
        "a webhook that hangs over one eviction holds up the repair of every dead node",
        "k8s_bridge/relocation/evictions/trials.py",
        "await patiently(tasks, self.clock.sleep(TRIAL_PATIENCE_SECONDS))",
        "await patiently(tasks, self.clock.sleep(100 * TRIAL_PATIENCE_SECONDS))",
        f"{LIMITS}::test_a_repair_does_not_wait_for_a_trial_that_hangs",
    ),
    Mutant(
        "late answers to trials of evictions",
        "a webhook that takes longer than a second keeps every preemption from its victims",
        "k8s_bridge/relocation/preemption.py",
        "                del self._asking[gang]\n",
        "                pass\n",
        f"{LIMITS}::test_a_late_answer_is_used",
    ),
    Mutant(
        "limits that forbid are named",
        "a gang of the highest priority waits for ever, and nothing says that budgets are why",
        "k8s_bridge/relocation/preemption.py",
        "self._forbidden.note(gang, lower, limits, now_there, places, plan.reason)\n",
        '""\n',
        f"{PREEMPTION}::test_what_a_budget_forbids_is_not_forced",
    ),
    Mutant(
        "limits by pod",
        "budgets of one namespace keep the whole loop busy: each gang is held against all of them",
        "k8s_bridge/relocation/evictions/limits.py",
        "for limit in self.of(one))",
        "for limit in {id(x): x for found in self._of.values() for x in found}.values())",
        "tests/k8s_bridge/relocation/test_limits_by_pod.py"
        "::test_each_gang_is_held_against_its_own_limits",
    ),
    Mutant(
        "moves for repairs are charged",
        "a tenant that deletes its own pods again and again has those of others moved without end",
        "k8s_bridge/relocation/repair.py",
        "        self.caused.begun(moved_for(begun, at_fault, movers), self.clock.wall())\n",
        "",
        f"{CAUSED}::test_who_has_others_moved_for_its_repairs_is_charged",
    ),
    Mutant(
        "moves by defragmentation are charged",
        "one namespace has the pods of others moved for its gangs as often as the cluster may",
        "k8s_bridge/relocation/defragmentation.py",
        "            if not over:\n",
        "            if True:\n",
        f"{CAUSED}::test_who_starts_by_a_defragmentation_is_charged[0-0]",
    ),
    Mutant(
        "another fabric for a gang that limits kept waiting",
        "a gang waits ten minutes beside a node that has come meanwhile",
        FORBIDDEN,
        "            and known.fabric is snapshot.fabric\n",
        "",
        f"{FORBIDDEN_TESTS}::test_it_is_asked_again_once_anything_is_otherwise",
    ),
    Mutant(
        "another size of a gang that limits kept waiting",
        "a gang that asks for less waits ten minutes as if it asked for all",
        FORBIDDEN,
        "            and known.gang == in_itself(gang)\n",
        "",
        f"{FORBIDDEN_TESTS}::test_it_is_asked_again_once_anything_is_otherwise",
    ),
    Mutant(
        "gangs that have lost members make no way",
        "what is left of a gang is evicted, and what is lost comes back alone",
        "k8s_bridge/relocation/preemption.py",
        "            and not one.hit\n",
        "",
        f"{PREEMPTION}::test_a_gang_that_has_lost_a_member_is_no_victim",
    ),
    Mutant(
        "evictions of the future",
        "a clock that was ahead once keeps a namespace from having any pod evicted for ever",
        "k8s_bridge/relocation/evictions/history.py",
        "            self.rows = [row for row in self.rows if row[0] <= latest]\n",
        "",
        f"{UNREAD}::test_what_another_clock_wrote_counts_once_this_one_is_there",
    ),
)
"""Each was seen to happen before there was the safeguard."""
