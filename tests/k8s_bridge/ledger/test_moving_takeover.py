"""A node that moves to another page while a new leader makes the pages its own."""

from __future__ import annotations

import asyncio

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory.actors import LEAF
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import page_name
from tests.k8s_bridge.ledger.harness import Held, Leader, World

NODE = "n-0-0-0"


async def test_a_node_that_moves_during_a_takeover_stays_on_its_new_page() -> None:
    """The new page answers first, so that the new leader finds it on both for a while.

    The old one lists it no more when it is read again: the new one still does, and lists it once.
    """
    world = await World().start()
    old = await Leader(world, "a").take_over()
    new = Leader(world, "b")
    found = Held("list", "", answers=True)
    claimed = Held("update", page_name("leaf-0-0", 0))
    new.cluster.interceptors += [found, claimed]
    taking = asyncio.ensure_future(new.take_over())
    await found.met.wait()
    moved = {"metadata": {"labels": {LEAF: "leaf-0-1"}}}
    await world.cluster.patch(NODES, Target("", NODE), moved)
    await old.keeping.lay_out(world.fabric_pages())
    found.go.set()
    await claimed.met.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    both = [page.leaf for page in new.ledger.pages if NODE in page.nodes]
    assert both == ["leaf-0-0", "leaf-0-1"]
    claimed.go.set()
    await taking
    assert new.ledger.page_of(NODE) == page_name("leaf-0-1", 0)
    assert {page.leaf: page.nodes.count(NODE) for page in world.pages()} == {
        "leaf-0-0": 0,
        "leaf-0-1": 1,
        "leaf-0-2": 0,
        "leaf-0-3": 0,
    }
