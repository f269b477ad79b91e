"""Plans stay the same to the byte unless a change of them is meant."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.compat.plans import FAMILIES, digest, example

GOLDEN = Path(__file__).parent / "golden" / "plans.json"
"""Digests as they were written; `python -m tests.compat` writes them anew."""

BLOCK = 20
"""Plans of one test."""

BLOCKS = [(name, at) for name, (_, count) in FAMILIES.items() for at in range(0, count, BLOCK)]


def _written() -> dict[str, str]:
    return dict(orjson.loads(GOLDEN.read_bytes()))


def test_the_plan_of_the_examples_is_the_one_written() -> None:
    """The example files give the plan that they gave before."""
    assert digest(example()) == _written()["examples"]


@pytest.mark.no_cover
@pytest.mark.parametrize(("family", "first"), BLOCKS)
def test_plans_are_those_written(family: str, first: int) -> None:
    """Twenty generated instances give the plans that they gave before, reasons included."""
    make, count = FAMILIES[family]
    written = _written()
    seeds = range(first, min(first + BLOCK, count))
    changed = [seed for seed in seeds if digest(make(seed)) != written[f"{family} {seed}"]]
    assert changed == []


def test_five_hundred_are_written() -> None:
    """Nothing is left out of the comparison."""
    names = {f"{name} {seed}" for name, (_, count) in FAMILIES.items() for seed in range(count)}
    assert set(_written()) == {"examples", *names}
    assert len(names) == 500
