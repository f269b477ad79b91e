"""Kept places whose leaves, or whose config, are others by now; and who repairs are for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation, Seat
from fourleaf.k8s_bridge.relocation.repair import are_back
from fourleaf.k8s_bridge.relocation.reserved_seats import KeptLeaves
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from tests import small

WHOLE = Resources(8, None, None, 1, ())
KEY = GangKey("ml", "g")


def world(*leaves: tuple[str, ...], closed: str = "", **config: object) -> Snapshot:
    """Leaves `a`, `b`, ... of one spine with these nodes."""
    found = tuple(
        Leaf(name, "s0", tuple(small.node(one, name, cordoned=one == closed) for one in of_leaf))
        for name, of_leaf in zip("abc", leaves, strict=False)
    )
    return small.snapshot(Fabric(found), **config)


def kept(*nodes: str, opened: float = 1.0) -> Relocation:
    """Places for members of a gang."""
    seats = tuple(Seat(Target("ml", one, one), (0, 0, 0), "", one, WHOLE) for one in nodes)
    return Relocation(KEY, Purpose.REPAIR, seats, (), opened=opened)


BEFORE = world(("x", "y"), ("z",))


@pytest.mark.parametrize(
    ("after", "has_moved"),
    [
        (BEFORE, False),
        (world(("x", "y"), ("z",), closed="y"), False),
        (world(("x", "y"), ("z", "w")), False),
        (world(("y",), ("x", "z")), True),
        (world(("x", "y"), ("z",), topologyConstraints={"maxNodesPerLeaf": 1}), True),
        (world(("x", "y"), ("z",), namespaces={"ml": {"domains": ["b"]}}), True),
        (world(("x", "y"), ("z",), namespaces={"other": {"domains": ["b"]}}), False),
    ],
)
def test_leaves_and_config_and_not_which_nodes_may_be_used(
    after: Snapshot, has_moved: bool
) -> None:
    """Places on x and z; y is none of them, and another node of a leaf makes it no other leaf."""
    leaves = KeptLeaves()
    assert leaves.moved([kept("x", "z")], BEFORE) == frozenset()
    assert leaves.moved([kept("x", "z")], after) == ({KEY} if has_moved else frozenset())
    assert leaves.moved([kept("x", "z")], BEFORE) == frozenset()


def test_other_places_of_the_gang_are_seen_for_the_first_time() -> None:
    """What is known of a relocation goes with it."""
    leaves = KeptLeaves()
    leaves.moved([kept("x", "z")], BEFORE)
    leaves.moved([kept("x", "y", opened=2.0)], BEFORE)
    assert leaves.moved([kept("x", "z")], world(("y",), ("x", "z"))) == frozenset()


@pytest.mark.parametrize(("wanted", "back"), [(2, False), (3, True), (4, False)])
def test_members_are_back_where_one_waits_for_each(wanted: int, back: bool) -> None:
    """A gang of 5 has lost 3; of an owner that wants 4 by now, two wait."""
    gang, _ = small.with_bound(small.gang("g", 5), "a0", "a1")
    now, _ = small.with_bound(small.gang("g", wanted + 2), "a0", "a1")
    waiting: dict[GangKey, Gang] = {KEY: now}
    assert are_back(StandingGang(gang), waiting) is back
    assert not are_back(StandingGang(gang), {})
    assert not are_back(StandingGang(gang), {KEY: replace(now, roles=())})
