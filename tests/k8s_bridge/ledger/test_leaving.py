"""A node that moves to another leaf stays on its page until nothing on it can go back."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory.actors import LEAF
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding import binding
from tests.k8s_bridge.ledger.harness import Leader, World, on

NODE = "n-0-0-0"


async def test_a_node_stays_while_a_gang_on_it_may_still_go_back() -> None:
    """Three of four members are bound when the first one's node is relabelled.

    The entry keeps all four. Once the last one is bound as well, the node moves, and its
    member with it.
    """
    world = await World().start()
    leader = await Leader(world, "a").take_over()
    four = await world.gang("four", on(0))
    outcome = await leader.decide(four)
    (commit,) = outcome.committed
    for member in four.members[:3]:
        await world.cluster.bind(binding(commit, member, member.pod))
    moved = {"metadata": {"labels": {LEAF: "leaf-0-1"}}}
    await world.cluster.patch(NODES, Target("", NODE), moved)
    await leader.keeping.lay_out(world.fabric_pages())
    (page,) = [page for page in world.pages() if page.entries]
    assert NODE in page.nodes
    assert [len(entry.members) for entry in page.entries] == [4]
    await leader.rest()
    await leader.keeping.lay_out(world.fabric_pages())
    held = {page.leaf: [len(e.members) for e in page.entries] for page in world.pages()}
    assert held == {"leaf-0-0": [3], "leaf-0-1": [1], "leaf-0-2": [], "leaf-0-3": []}
    assert [page.leaf for page in world.pages() if NODE in page.nodes] == ["leaf-0-1"]
    world.check([four])
