"""The safeguards of what plans claim to be, how to take each out, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

CORES = "tests/solver/cpsat/test_core_search.py"
BRANCHING = "tests/solver/relocation/test_branching.py"
LARGE = "tests/solver/batch/test_any_leaves.py"

PROOFS = (
    Mutant(
        "a core proves nothing of the rest",
        "a plan is told as the best, though better places lie outside of the core",
        "solver/cpsat/core_search.py",
        "bound = found.bound + core.constant if everything else ENDLESS",
        "bound = found.bound + core.constant",
        f"{CORES}::test_without_work_the_answer_of_the_core_stays_with_its_bound",
    ),
    Mutant(
        "relaxations that fail",
        "a large batch gets a greedy plan where HiGHS runs out of memory",
        "solver/cpsat/relaxation.py",
        "with suppress(*RELAXATION_FAILURES):",
        "with suppress():",
        f"{CORES}::test_a_relaxation_that_fails_is_done_without",
    ),
    Mutant(
        "gangs of a spine counted whole",
        "parts of large gangs make every bound too high, so that no plan with some is proven",
        "solver/cpsat/builder.py",
        "        add_spine_cuts(model)\n",
        "",
        f"{LARGE}::test_a_relaxation_counts_whole_gangs_of_a_spine",
    ),
    Mutant(
        "windows up to a number of nodes",
        "a plan breaks up a gang of few nodes, and the validator lets it pass",
        "model/validator/locations.py",
        "return nodes > kind.window_nodes and nodes not in dict(kind.exceptions)",
        "return nodes not in dict(kind.exceptions)",
        f"{LARGE}::test_pods_that_share_nodes_are_no_more_nodes",
    ),
    Mutant(
        "everyone lives before moves are counted",
        "a repair leaves gangs broken where many stand, as the fewest moves are none",
        "solver/relocation/stages.py",
        "        ranges[variable] = (value, value)\n",
        "        pass\n",
        f"{BRANCHING}::test_the_fewest_moves",
    ),
    Mutant(
        "answers of HiGHS are checked",
        "a rounding of HiGHS puts two pods on one node",
        "solver/cpsat/branch_and_cut.py",
        "    if not obeys(program, values):\n",
        "    if False:\n",
        "tests/solver/cpsat/test_branch_and_cut.py::test_an_answer_that_breaks_a_row_is_none",
    ),
    Mutant(
        "gangs that stay where they are have no task",
        "each repair places hundreds of gangs anew that stay, and takes seconds longer",
        "solver/relocation/place.py",
        "    tasks = [task for task in tasks if any(role.pods for role in task.gang.roles)]\n",
        "",
        "tests/solver/relocation/test_branching.py::test_gangs_that_stay_have_no_task",
    ),
    Mutant(
        "repairs are put on the nodes before they are said to be proven",
        "a gang that could live is lost, and the plan says that all live",
        "solver/cpsat/decode.py",
        "return _Packing(model, values).pack(chosen) - model.refined",
        "return frozenset()",
        "tests/solver/relocation/test_repair.py"
        "::test_who_lives_finds_room_where_a_node_of_the_leaf_is_half_free",
    ),
)
