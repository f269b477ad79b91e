"""What verbs say of a cluster that is slow, or has clocks of its own, and records tried in vain."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LIVE = "tests/cli/test_live.py"
REFUSED = "tests/k8s_bridge/relocation/test_refused_relocations.py"

TOLD_BY_VERBS = (
    Mutant(
        "leaders whose clocks differ, as verbs see them",
        "`why` says that no scheduler leads, while one does",
        "cli/cluster/leader.py",
        "    if not lease or is_held(lease):\n        return bool(lease)\n",
        "    if True:\n        return bool(lease) and is_held(lease)\n",
        f"{LIVE}::test_a_scheduler_leads_whose_clock_is_an_hour_ahead",
    ),
    Mutant(
        "lost members that a budget keeps, as `why` sees them",
        "`why` ends with 0 for a gang that waits for a person",
        "cli/cluster/not_repaired.py",
        'REASONS = ("NotRepaired", "EvictionForbidden")\n',
        'REASONS = ("NotRepaired",)\n',
        "tests/cli/test_why.py::test_why_a_gang_stays_whose_lost_member_is_kept",
    ),
    Mutant(
        "budgets of gangs that leave one after another",
        "a dry run says that a drain would end gangs that it moves in turn",
        "model/previews/drain.py",
        "            *_in_turn(reading.eviction_limits(members), standing),\n",
        "            *reading.eviction_limits(members),\n",
        "tests/cli/test_drain.py::test_a_budget_lets_gangs_go_one_after_another",
    ),
    Mutant(
        "preemptions whose record was refused",
        "a policy against one gang's record has it planned for every ten seconds",
        "k8s_bridge/relocation/preemption.py",
        "            and self.store.may_write(gang.key)\n",
        "",
        f"{REFUSED}::test_a_record_that_is_refused_for_good_is_planned_for_later_and_later",
    ),
    Mutant(
        "an own plan begun early enough",
        "a worker that hangs costs a large batch a third of its placements",
        "solver/process/deadlines.py",
        "        return max(self.began, min(patience, self.own - looks / LOOKS_PER_SECOND))\n",
        "        return patience\n",
        "tests/solver/process/test_deadlines.py::test_our_own_plan_begins_early_enough",
    ),
)
