"""The safeguards of what plans claim to be, how to take each out, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

CORES = "tests/solver/cpsat/test_core_search.py"

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
        "solver/cpsat/backend.py",
        "with suppress(*RELAXATION_FAILURES):",
        "with suppress():",
        f"{CORES}::test_a_relaxation_that_fails_is_done_without",
    ),
)
