"""What is kept of gangs from one solve to the next is bounded, whatever tenants submit."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.extensions import Extensions
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.instance.gang_classes import MOST_KEPT, gang_groups_for
from tests.model.readers.made import node, pod, reading


def test_gangs_that_are_gone_are_kept_in_bounded_number() -> None:
    """3000 gangs come and go, 100 at a time and each of its own kind; nodes stay as they are."""
    world = reading(node("n1"), node("n2", "leaf-2"), pod("a")).snapshot
    extensions = Extensions()
    index, most = gang_groups_for(world, extensions).fabric, 0
    for first in range(0, 3000, 100):
        bodies = [pod(f"p-{i}", nodeSelector={f"no{i}": "such"}) for i in range(first, first + 100)]
        snapshot = replace(world, gangs=reading(node(), *bodies).snapshot.gangs)
        greedy_plan(snapshot)
        most = max(most, gang_groups_for(snapshot, extensions).met)
    assert 100 <= most <= MOST_KEPT + 100
    assert gang_groups_for(snapshot, extensions).fabric is index


def test_what_is_met_again_is_kept() -> None:
    """The same gangs in the next cycle find the factory that knows them."""
    world = reading(node("n1"), pod("a")).snapshot
    greedy_plan(world)
    known = gang_groups_for(world, Extensions())
    greedy_plan(world)
    assert gang_groups_for(world, Extensions()) is known
