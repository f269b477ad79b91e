"""A page that a replaced leader makes gives it no nodes."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory.actors import LEAF
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from tests.k8s_bridge.ledger.harness import Leader, World

NODE = "n-0-0-0"


async def test_a_replaced_leader_makes_a_page_and_learns_that_it_is_replaced() -> None:
    """The old one moves a node to a new leaf and sleeps; the new one moves it to a third leaf.

    No write of the old one's meets a stale version: the new page is nobody else's. It sees the
    new epoch before it lists the node there.
    """
    world = await World().start()
    old = await Leader(world, "a").take_over()
    await _relabel(world, "leaf-new")
    wanted = world.fabric_pages()
    await old.keeping.lay_out([page for page in wanted if page.leaf != "leaf-new"])
    new = await Leader(world, "b").take_over()
    await _relabel(world, "leaf-0-1")
    await new.keeping.lay_out(world.fabric_pages())
    with pytest.raises(Fenced):
        await old.keeping.lay_out(wanted)
    assert [page.leaf for page in world.pages() if NODE in page.nodes] == ["leaf-0-1"]


async def _relabel(world: World, leaf: str) -> None:
    patch = {"metadata": {"labels": {LEAF: leaf}}}
    await world.cluster.patch(NODES, Target("", NODE), patch)
