"""Records of the ledger and of relocations, of every kind, in every format and phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.formats.codec import (
    gang_body,
    page_body,
    read_gang,
    read_page,
)
from fourleaf.k8s_bridge.ledger.names import gang_lease_name, page_name
from fourleaf.k8s_bridge.ledger.records import (
    ClaimAllocation,
    Entry,
    GangLease,
    Member,
    Page,
    Phase,
)
from fourleaf.k8s_bridge.node_health.failure_rates import FailureRates
from fourleaf.k8s_bridge.relocation.codec import read_relocation, relocation_body
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources

WRITER = "scheduler-7d9f-x2"
GANG = GangKey("ml", "train")
UID = "0b52c9e4-8a2d-4a7e-9c55-1f1f3a9d7b21"
POD = Target("ml", "train-0", UID, "41")
CLAIM = ClaimAllocation(
    Target("ml", "gpus-0", "8d6d1c4b-43c8-4b5e-8f4f-2f4cf9a3f1aa", "77"),
    (
        ("gpus", DeviceName("gpu.nvidia.com", "n1", "gpu-3")),
        ("gpus", DeviceName("gpu.nvidia.com", "n1", "gpu-5")),
    ),
)
MEMBERS = (
    Member(POD, "n0", (0, 1, 2, 3, 6)),
    Member(Target("ml", "train-1", "uid-1", "42"), "n1", claims=(CLAIM,)),
    Member(Target("ml", "Train_2", "UID-2", "1000000000000"), "n2"),
)
LEASE = gang_lease_name("train", "c1")

READABLE = (1, 2)
"""Formats whose bytes are ours alone; those of compression are not."""

Body = dict[str, Any]
Read = Callable[[Body], Any]


def records() -> Iterator[tuple[str, Any, Body, Read]]:
    """Name, record, the Lease it is written as, and its reader."""
    for number in READABLE:
        for phase in Phase:
            entries = (
                Entry("c1", GANG, MEMBERS, "", phase),
                Entry("c2", GangKey("ml", "a.b-c"), MEMBERS[:1], LEASE, Phase.PREPARED),
            )
            page = Page("leaf-0", 1, ("n0", "n1", "n2"), entries, 5, "7", number)
            yield f"page {number} {phase}", page, page_body(page, WRITER), read_page
            gang = GangLease(LEASE, "c1", GANG, phase, MEMBERS, ("leaf-0-0",), 5, "7", number)
            yield f"gang lease {number} {phase}", gang, gang_body(gang, WRITER), read_gang
        for purpose in Purpose:
            one = _relocation(purpose, number)
            body = relocation_body(one, WRITER)
            yield f"relocation {number} {purpose}", one, body, read_relocation


def _relocation(purpose: Purpose, number: int) -> Relocation:
    """A gang of which one member leaves n0 for n2, and one is lost with n3."""
    whole = Resources(8, 96_000, 1 << 40, 1, (("rdma/ib", 4),))
    other = Target("ml", "train-1", "uid-1")
    return Relocation(
        gang=GANG,
        purpose=purpose,
        seats=(
            Seat(Target("ml", "train-0", UID), (0, 1, 0), "n0", "n2", whole),
            Seat(other, (0, 2, 0), "n3", "n4", Resources(4, 1, 2, 1)),
        ),
        leavers=(Leaver(Target("ml", "train-0", UID), "n0"), Leaver(other, "n3", lost=True)),
        stays=frozenset({("uid-3", "n5"), ("uid-4", "n6")}),
        priority=9,
        owner="0c2d",
        why="n3 does not answer",
        opened=1000.5,
        until=1600.0,
        starts=1100.25,
        epoch=5,
        version="7",
        format=number,
    )


def names() -> dict[str, str]:
    """Names of Leases, which other versions look for."""
    return {
        "page": page_name("leaf-0", 3),
        "page of an odd leaf": page_name("Rack 7/Leaf_0", 0),
        "gang lease": gang_lease_name("a very long name of a gang " * 4, "c1"),
    }


def failures() -> Any:
    """How often nodes have failed, as a Lease keeps it."""
    rates = FailureRates(3600.0)
    rates.failed(["n0", "n1"], ["leaf-0"], 1000.0)
    rates.failed(["n0"], [], 4600.0)
    return rates.content(8200.0)
