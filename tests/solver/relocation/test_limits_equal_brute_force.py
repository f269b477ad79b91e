"""Under limits of evictions, plans are what brute force finds under the same limits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.relocations import limited
from tests.solver.relocation.test_equals_brute_force import (
    Change,
    defrag_is_best,
    repair_is_best,
    victims_are_fewest,
)

BLOCKS = 24
PER_BLOCK = 40

SEEDS = [range(block * PER_BLOCK, (block + 1) * PER_BLOCK) for block in range(BLOCKS)]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "compare", [repair_is_best, victims_are_fewest, defrag_is_best], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: str(seeds.start))
def test_seeded_instances(compare: Callable[[int, Change], bool], seeds: range) -> None:
    """On each seed, with shared limits, the plan is proven, legal, and worth just the optimum."""
    compared = 0
    for seed in seeds:
        try:
            compared += compare(seed, limited)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong
    assert compared >= PER_BLOCK - 4
