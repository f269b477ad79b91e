"""Sums of what pods ask for."""

from __future__ import annotations

import random
from functools import reduce

import pytest

from fourleaf.model.resources import Resources, plus, total


@pytest.mark.parametrize("seed", range(20))
def test_a_total_is_what_plus_makes_of_it(seed: int) -> None:
    """Amounts that are absent count as nothing, and extras are added by name, in any mix."""
    dice = random.Random(seed)  # noqa: S311 - a test, not a secret
    requests = [
        Resources(
            gpus=dice.randint(0, 8),
            cpu=dice.choice([None, 0, 250]),
            memory=dice.choice([None, 2**30]),
            extra=dice.choice([(), (), (("rdma/hca", dice.randint(1, 4)),)]),
        )
        for _ in range(dice.randint(1, 9))
    ]
    assert total(requests) == reduce(plus, requests)


def test_a_total_by_hand() -> None:
    """Two pods of 3 and 5 GPUs, one of them with half a core, take 8 GPUs and two slots."""
    asked = [Resources(gpus=3, cpu=500, memory=None), Resources(gpus=5, cpu=None, memory=7)]
    assert total(asked) == Resources(gpus=8, cpu=500, memory=7, pods=2)
    assert total(asked[1:]) is asked[1]
