"""Safeguards of advice: what unblocks with the least leads, and none is given that never helps."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

ELSEWHERE = "tests/solver/explain/test_bound_elsewhere.py"

BUDGETS = "tests/model/readers/pods/test_disruption_budgets.py"
FAILURES = "tests/k8s_bridge/cluster/live/test_failures.py"
LIMITS = "tests/solver/relocation/test_eviction_limits.py"
QUOTA = "tests/solver/explain/test_quota_and_uplinks.py"

ADVICE_THAT_SERVES = (
    Mutant(
        "nodes that are let in before healthy pods are evicted",
        "a person is told to evict healthy pods where an uncordon would do without a move",
        "solver/explain/explain.py",
        "found += () if served else self._doors.once_free(gang, left_out)",
        "found += () if served else ()",
        f"{ELSEWHERE}::test_a_node_that_is_let_in_leads_before_any_eviction",
    ),
    Mutant(
        "a repair by itself before evictions by hand",
        "a person evicts pods that the scheduler is about to move",
        "solver/explain/bound_elsewhere.py",
        "steps = [BY_ITS_REPAIR, *steps, evict]",
        "steps = [*steps, evict]",
        f"{ELSEWHERE}::test_the_member_is_named_whose_eviction_gives_all_a_place",
    ),
    Mutant(
        "why a gang in part is not whole again",
        "`why` leaves out why a gang is not repaired whose lost member is gone",
        "cli/cluster/not_repaired.py",
        "    names += [pod for role in (answer.gang.roles if answer.gang else ()) "
        "for pod in role.pods]\n",
        "",
        "tests/cli/test_why.py::test_why_a_gang_in_part_is_not_whole_again",
    ),
    Mutant(
        "budgets that cannot be counted",
        "a budget is raised in vain, as its controller cannot count the pods of a Job",
        "model/readers/pods/disruption_budgets.py",
        '        _advice(manifest, spec) if known else "",\n',
        "",
        f"{BUDGETS}::test_a_budget_that_its_controller_cannot_count",
    ),
    Mutant(
        "what the API says of budgets that cannot be counted",
        "the event of a pod that may not be evicted advises what never helps",
        "k8s_bridge/cluster/live/answers.py",
        "(words, *_uncounted_budgets(said))",
        "(words,)",
        f"{FAILURES}::test_a_budget_that_cannot_be_counted_has_advice_of_its_own",
    ),
    Mutant(
        "room that does not help those who have to go",
        "a gang on a drained node is told to wait for room, which never moves it",
        "solver/relocation/repair.py",
        "for number, *_ in counted], must_go)",
        "for number, *_ in counted])",
        f"{LIMITS}::test_a_lost_member_that_may_not_go_keeps_its_gang",
    ),
    Mutant(
        "quota that comes back with the room",
        "a quota is raised for a gang whose neighbour's end is enough",
        "solver/explain/quota_and_room.py",
        "    if left <= quota:\n",
        "    if False:\n",
        f"{QUOTA}::test_the_end_of_its_own_neighbour_gives_quota_and_room",
    ),
    Mutant(
        "gangs that make way once the quota allows it",
        "a person waits for the end of a gang that would be preempted under a higher quota",
        "solver/explain/quota_and_room.py",
        "        and all(one.ours and one.priority < gang.priority for one in pods)\n",
        "        and not pods\n",
        f"{QUOTA}::test_the_end_of_its_own_neighbour_gives_quota_and_room",
    ),
    Mutant(
        "no more quota than is missing",
        "a quota is raised by what the gang that ends gives back",
        "solver/explain/quota_and_room.py",
        "    left = enough - _given_back(context, namespace, ends)\n",
        "    left = enough\n",
        f"{QUOTA}::test_a_quota_is_raised_by_no_more_than_is_not_given_back",
    ),
    Mutant(
        "gangs that a drain leaves where they are",
        "a dry run says that a gang has no place which a budget keeps where it is",
        "model/previews/drain.py",
        "return tuple(one for one in self.plan.lost if one.reason.kind is _MAY_NOT_GO)",
        "return ()",
        "tests/cli/test_drain.py::test_a_budget_that_lets_one_of_two_go",
    ),
    Mutant(
        "moments that hold whenever they are read",
        "a person waits for as long as it was when the event was written, again and again",
        "k8s_bridge/relocation/preemption.py",
        "return second(math.ceil(self.clock.wall() + seconds))",
        'return f"{math.ceil(seconds)} s have passed"',
        "tests/k8s_bridge/relocation/test_preemption_told.py"
        "::test_a_gang_that_has_preempted_is_told_how_long_it_waits",
    ),
    Mutant(
        "limits of other tenants",
        "a tenant reads what keeps the pods of another one, and is told to change it",
        "k8s_bridge/relocation/evictions/forbidden_gangs.py",
        "own = [one for one in limits if _is_of(gang, one) and str(one) in reason.detail]",
        "own = [one for one in limits if str(one) in reason.detail]",
        "tests/k8s_bridge/relocation/test_eviction_limits.py"
        "::test_budgets_of_other_tenants_are_not_named",
    ),
    Mutant(
        "places that are kept on nodes to be drained",
        "a drain has the pods go in vain that make way for a gang, and a dry run says it is free",
        "cli/cluster/kept_places.py",
        "        if kept and one.purpose is not Purpose.RESERVATION:\n",
        "        if not kept and one.purpose is not Purpose.RESERVATION:\n",
        "tests/cli/test_drain.py::test_places_that_are_kept_for_a_gang_are_told",
    ),
    Mutant(
        "owners that have no pods yet",
        "`why` says that nothing has the name of a JobSet that is there",
        "cli/input/not_a_gang.py",
        "        if all(its):\n",
        "        if not its:\n",
        "tests/cli/test_why.py::test_a_job_set_that_has_made_no_job",
    ),
    Mutant(
        "who is to make missing members",
        "a person looks at a Job that has all its pods, while its JobSet makes no other",
        "model/readers/gangs/holds.py",
        "    return (*outer, first)\n",
        "    return (first,)\n",
        "tests/model/readers/gangs/test_owner_kinds.py"
        "::test_who_is_to_make_the_members_that_are_missing",
    ),
)
