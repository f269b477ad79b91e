"""The benchmark of honest gangs beside others runs, in small."""

from __future__ import annotations

import pytest

from benchmarks.tenants import pods
from benchmarks.tenants.__main__ import HEADER, columns
from benchmarks.tenants.loads import LOADS, Load
from benchmarks.tenants.measure import measured

SMALL = Load(pods.hopeless(3, 2), pods.repelling(2, "r"), namespaces=2, throttled=50, busy=10)


async def test_two_gangs_are_bound_beside_a_small_load() -> None:
    """All counts of the row are those of the load, and no lead is lost over eight small pods."""
    row = await measured(SMALL, 30.0, honest=2)
    assert (row.pods, row.bound, row.leads_lost) == (8, 2, 0)
    assert row.posted > 1_000
    assert 0.0 < row.median <= row.longest < 30.0
    assert len(columns("none", row, row.median)) == len(HEADER)


@pytest.mark.parametrize("name", LOADS)
def test_each_load_can_be_made(name: str) -> None:
    """Names of its pods are different, or the API server would refuse one."""
    load = LOADS[name]()
    names = [body["metadata"]["name"] for body in (*load.bodies, *load.standing)]
    assert len(set(names)) == len(names)
