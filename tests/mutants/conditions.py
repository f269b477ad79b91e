"""Bounds of what pods may ask of nodes and of other pods, and the index that looks it up."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

CONDITIONS = (
    Mutant(
        "conditions on nodes",
        "one pod with a thousand terms has every cycle reach its limit",
        "model/readers/pods/node_constraints.py",
        "    if constraint.conditions > MOST_CONDITIONS and not stands:\n",
        "    if False:\n",
        "tests/model/readers/gangs/test_many_alike.py::test_conditions_beyond_a_hundred_are_held",
    ),
    Mutant(
        "what conditions cost",
        "a tenant with a cheap solve pays for the conditions of another",
        "k8s_bridge/scheduling/holds/solver_time.py",
        "sum(1 + role.constraint.conditions for role in gang.roles)",
        "len(gang.roles)",
        "tests/k8s_bridge/scheduling/test_solver_time.py::test_conditions_cost_beside_roles",
    ),
    Mutant(
        "conditions of a gang",
        "gangs of sixteen roles with a hundred tolerations each have every solve reach its limit",
        "model/readers/gangs/holds.py",
        "    if conditions <= MOST_GANG_CONDITIONS:\n",
        "    if True:\n",
        "tests/model/readers/gangs/test_many_alike.py"
        "::test_a_gang_of_more_than_four_hundred_conditions_is_held",
    ),
    Mutant(
        "terms within a gang",
        "a gang of 2,000 pods with 32 terms each keeps the event loop busy for minutes",
        "model/readers/gangs/members_apart.py",
        "    if comparisons * len(members) > MOST_GANG_COMPARISONS:\n",
        "    if False:\n",
        "tests/model/readers/gangs/test_many_alike.py"
        "::test_a_gang_of_too_many_terms_about_others_is_held",
    ),
    Mutant(
        "nodes without a label",
        "a pod that is to keep off nodes of one kind gets none of those that name no kind",
        "solver/instance/label_index.py",
        "return self.every & ~values.having(one.values)",
        "return values.stated & ~values.having(one.values)",
        "tests/solver/instance/test_label_index.py::test_numbers_are_compared_as_numbers",
    ),
    Mutant(
        "terms of pods like no others",
        "2,000 pods with 32 terms each keep the event loop busy for half a second in each cycle",
        "model/readers/gangs/kept_apart.py",
        "                self._running.count(NEW_TERM_COMPARISONS)\n",
        "",
        "tests/model/readers/gangs/test_many_alike.py"
        "::test_each_term_of_a_pod_that_is_like_no_other_counts",
    ),
    Mutant(
        "terms of who is held",
        "a namespace is limited for what its gangs would cost that cannot start anyway",
        "model/readers/gangs/mind_others.py",
        "        if draft.gang.hold is not None or budget.refuses(draft):\n",
        "        if budget.refuses(draft):\n",
        "tests/model/readers/gangs/test_many_alike.py"
        "::test_who_is_held_anyway_has_no_terms_looked_up",
    ),
    Mutant(
        "features that a kubelet declares",
        "a pod is planned without end on a node whose kubelet refuses it",
        "solver/instance/label_index.py",
        "        if constraint.features:\n",
        "        if False:\n",
        "tests/solver/instance/test_label_index.py::test_features_that_a_kubelet_has_to_declare",
    ),
)
