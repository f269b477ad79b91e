"""Plans with phantoms that could not stand there."""

from __future__ import annotations

from collections.abc import Callable

from fourleaf.model.node import Taint
from fourleaf.model.plan import Phantom
from tests.small import Case, fabric, gang, node, one_leaf, plan, snapshot

MIX = {"weight": 1, "mix": [{"nodes": 2, "share": "0.5"}]}
PAIR = Phantom(2, 8, ("a0", "a1"), 8000)


def haunted(phantom: Phantom, *more: Phantom) -> Callable[[], Case]:
    """Make a case of two leaves of three nodes, a gang on `a2`, and these phantoms."""

    def case() -> Case:
        world = snapshot(fabric([[3, 3]]), gang("g", 1), fragmentation=MIX)
        return world, plan(world, {"g": ["a2"]}, (phantom, *more))

    return case


def haunted_taint() -> Case:
    """A phantom on a tainted node."""
    tainted = node("a0", "a", taints=(Taint("team", "x", "NoExecute"),))
    nodes = (tainted, node("a1", "a"), node("a2", "a"))
    return (world := snapshot(one_leaf(*nodes), fragmentation=MIX)), plan(world, {}, (PAIR,))
