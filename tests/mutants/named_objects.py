"""Safeguards of what pods and budgets may name, each of which is looked up again and again."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

NAMED = "tests/model/readers/pods/test_named_objects.py"
AMOUNTS = "tests/model/test_resources.py::test_names_are_looked_up_not_searched_for"

MANY_CLAIMS = f"{NAMED}::test_a_pod_that_names_more_claims_than_are_looked_up_is_held_by_name"
ASKS = "tests/model/readers/dra/test_asks.py"
BUDGETS = "tests/k8s_bridge/cache/test_known_budgets.py"
ALLOWED = (
    "tests/model/readers/live/test_read_allowance.py"
    "::test_claims_of_volumes_and_devices_count_beside_pods"
)

NAMED_OBJECTS = (
    Mutant(
        "amounts of one pod",
        "twenty pods without GPUs that name 500 disks each keep all others from starting",
        "model/readers/pods/node_constraints.py",
        "too_many_amounts(spec)\n        or too_many_objects(spec)",
        "too_many_objects(spec)",
        f"{NAMED}::test_a_pod_that_names_too_much_is_held_by_name",
    ),
    Mutant(
        "objects of one pod",
        "a gang of which each pod names 500 claims ends the term of each leader",
        "model/readers/pods/node_constraints.py",
        "too_many_amounts(spec)\n        or too_many_objects(spec)",
        "too_many_amounts(spec)",
        MANY_CLAIMS,
    ),
    Mutant(
        "objects of one pod that are not looked up: claims",
        "who is held for what it names has all of it looked up each time",
        "model/readers/pods/claiming_pods.py",
        "    if pod.waits and too_many_objects(pod.spec):\n        return\n",
        "",
        MANY_CLAIMS,
    ),
    Mutant(
        "objects of one pod that are not looked up: volumes",
        "the same, for volumes",
        "model/readers/gangs/read_gang.py",
        " and not (pod.waits and too_many_objects(pod.spec))",
        "",
        f"{NAMED}::test_volumes_are_not_looked_up_where_they_are_too_many",
    ),
    Mutant(
        "objects of one pod that are not looked up: changes",
        "a claim that changes has pods read again that do not have it looked up",
        "model/readers/live/known_pod.py",
        "    if pod.waits and too_many_objects(pod.spec):\n        return ()\n",
        "",
        ALLOWED,
    ),
    Mutant(
        "claims count as read again",
        "pods of 32 claims each are read again as often as others, at twenty times the cost",
        "model/readers/live/pod_cache.py",
        "known.own_cost + len(claims) // CLAIMS_A_POD",
        "known.own_cost",
        ALLOWED,
    ),
    Mutant(
        "what a claim asks for is kept",
        "each member that comes has the claims of its whole gang read",
        "model/readers/dra/asks.py",
        "        if asks is None or read_of is not spec:\n",
        "        if True:\n",
        f"{ASKS}::test_a_claim_is_read_once_until_it_says_something_else",
    ),
    Mutant(
        "classes that claims were read under",
        "a claim is honoured for a class that is understood no more",
        "model/readers/dra/asks.py",
        "            self._kept.clear()\n",
        "            pass\n",
        f"{ASKS}::test_a_class_that_says_something_else_has_claims_read_again",
    ),
    Mutant(
        "claims that are gone",
        "claims that come and go fill the memory",
        "model/readers/live/reader.py",
        "            self._ground.asks.forget(kind, *at)\n",
        "",
        f"{ASKS}::test_nothing_is_kept_of_a_claim_that_is_gone",
    ),
    Mutant(
        "names of amounts that are looked up: taken",
        "a node on which pods write to thousands of disks costs seconds each time it is looked at",
        "model/resources.py",
        "        known = left.get(name)\n",
        "        known = next((n for key, n in offered if key == name), None)\n",
        AMOUNTS,
    ),
    Mutant(
        "names of amounts that are looked up: fits",
        "the same, for each pod that might go there",
        "model/resources.py",
        "has = left.get(name)",
        "has = next((n for key, n in free.extra if key == name), None)",
        AMOUNTS,
    ),
    Mutant(
        "budgets that were read",
        "500 budgets of 9,000 values keep the event loop for three seconds at each plan",
        "k8s_bridge/cache/known_budgets.py",
        "            if known is None or known[0] is not body:\n",
        "            if True:\n",
        f"{BUDGETS}::test_a_budget_is_read_once_until_it_says_something_else",
    ),
    Mutant(
        "budgets that are gone",
        "budgets that come and go fill the memory",
        "k8s_bridge/cache/cluster_cache.py",
        "        if kind is DISRUPTION_BUDGETS:\n            if at",
        "        if False:\n            if at",
        f"{BUDGETS}::test_nothing_is_kept_of_a_budget_that_is_gone",
    ),
    Mutant(
        "selectors of budgets",
        "1,800 budgets of 9,000 values end the term of a leader at the first plan that asks",
        "model/readers/pods/disruption_budgets.py",
        "    return count > MOST_SELECTOR_VALUES\n",
        "    return False\n",
        "tests/model/readers/pods/test_disruption_budgets.py"
        "::test_a_budget_of_a_very_long_selector_holds_all_pods_of_its_namespace",
    ),
    Mutant(
        "counts of failures that are none",
        "5,000 digits in an annotation of one pod end every term",
        "model/readers/pods/job_failures.py",
        "    return whole_number(text if isinstance(text, str) else None) or 0\n",
        "    return int(str(text)) if str(text).isdecimal() else 0\n",
        "tests/model/readers/pods/test_job_failures.py"
        "::test_an_annotation_that_is_no_number_counts_for_none",
    ),
)
"""The harm is what one tenant made happen before there was the safeguard."""
