"""Safeguards of what pods and budgets may name, each of which is looked up again and again."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

NAMED = "tests/model/readers/pods/test_named_objects.py"
AMOUNTS = "tests/model/test_resources.py::test_names_are_looked_up_not_searched_for"

NAMED_OBJECTS = (
    Mutant(
        "amounts of one pod",
        "twenty pods without GPUs that name 500 disks each keep all others from starting",
        "model/readers/pods/node_constraints.py",
        "    if not stands and (what := too_many_amounts(spec)):\n",
        "    if False:\n",
        f"{NAMED}::test_a_pod_that_names_too_much_is_held_by_name",
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
)
"""The harm is what one tenant made happen before there was the safeguard."""
