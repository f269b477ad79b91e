"""Records of thousands of members fit, whatever is configured, and are not written anew."""

from __future__ import annotations

import base64
import lzma
import random
from dataclasses import replace
from uuid import UUID

import orjson
import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.formats import envelope, v2, v3
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN, gang_body, read_gang
from fourleaf.k8s_bridge.ledger.formats.envelope import RECORD_LIMIT_BYTES
from fourleaf.k8s_bridge.ledger.names import CONTENT, FORMAT
from fourleaf.k8s_bridge.ledger.record_store import Formats
from fourleaf.k8s_bridge.ledger.records import ClaimAllocation, GangLease, Member, Phase
from fourleaf.k8s_bridge.ledger.sealed import BadRecord, SealedRecord
from fourleaf.k8s_bridge.relocation.codec import read_relocation, relocation_body
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import MOST_CLAIMING_MEMBERS, MOST_MEMBERS, GangKey
from fourleaf.model.resources import Resources
from tests.k8s_bridge.ledger.harness import Death, Leader, World, on

KEY = GangKey("ml", "pretrain")


def random_uid(seed: int) -> str:
    """A UID that compresses no better than a real one."""
    return str(UUID(int=random.Random(seed).getrandbits(128)))  # noqa: S311


def members(count: int, per_node: int = 1, claims: int = 0) -> tuple[Member, ...]:
    """Pods with names and UIDs as a Job gives them, on nodes with names as a cloud gives them."""
    found = []
    for number in range(count):
        node = f"ip-10-{number // per_node:05}-1-1.us-west-2.compute.internal"
        pod = Target(
            "ml", f"pretrain-worker-0-{number}-{number:05x}", random_uid(number), "8812345"
        )
        devices = tuple(
            (f"gpu-{i}", DeviceName("gpu.nvidia.com", node, f"gpu-{i}")) for i in range(claims)
        )
        claim = ClaimAllocation(
            Target("ml", f"{pod.name}-gpus", random_uid(-number), "77"), devices
        )
        found.append(Member(pod, node, () if claims else (0, 1), (claim,) if claims else ()))
    return tuple(found)


def lease_of(some: tuple[Member, ...], number: int = 1) -> GangLease:
    """A gang lease that was written once."""
    pages = tuple(f"page-leaf-{i}-0123456789" for i in range(100))
    return GangLease("gang-x", "c1", KEY, Phase.PREPARED, some, pages, 5, "7", number)


@pytest.mark.parametrize("configured", [1, 2])
@pytest.mark.parametrize(("per_node", "claims"), [(1, 0), (8, 0), (1, 8)])
def test_a_gang_of_the_most_members_fits(configured: int, per_node: int, claims: int) -> None:
    """One pod a node with all its devices, or eight; the lease comes back as it was."""
    count = MOST_CLAIMING_MEMBERS if claims else MOST_MEMBERS
    lease = lease_of(members(count, per_node, claims), configured)
    body = gang_body(lease, "me")
    said = body["metadata"]["annotations"]
    assert said[FORMAT] == "3"
    assert sum(map(len, said.values())) <= RECORD_LIMIT_BYTES
    assert read_gang(body) == replace(lease, format=3)


@pytest.mark.parametrize("configured", [1, 2])
def test_a_small_gang_stays_readable(configured: int) -> None:
    """Whatever format 1 has room for is written as configured."""
    body = gang_body(lease_of(members(64), configured), "me")
    assert body["metadata"]["annotations"].get(FORMAT, "1") == str(configured)


def test_who_knows_no_format_3_refuses() -> None:
    """An older version is stood in for: it says how many bytes there would be."""
    lease = lease_of(members(MOST_MEMBERS))
    with pytest.raises(BadRecord, match="above 256000"):
        gang_body(lease, "me", known=(1, 2))
    with pytest.raises(SealedRecord) as found:
        read_gang(gang_body(lease, "me"), known=(1, 2))
    assert found.value.sealed.gangs == {KEY}


@pytest.mark.parametrize(
    "content",
    [
        "?",
        "\u00e9",
        base64.b64encode(b"no lzma").decode(),
        base64.b64encode(lzma.compress(b"[]")).decode(),
        base64.b64encode(lzma.compress(b'{"a": 1}')).decode(),
        base64.b64encode(lzma.compress(b"{")).decode(),
        base64.b64encode(lzma.compress(b'{"a": "b"}')[:-9]).decode(),
    ],
)
def test_what_cannot_be_expanded_is_sealed(content: str) -> None:
    """Nonsense, and what ends early: the envelope still counts."""
    body = gang_body(lease_of(members(MOST_MEMBERS)), "me")
    body["metadata"]["annotations"][CONTENT] = content
    with pytest.raises(SealedRecord) as found:
        read_gang(body)
    assert found.value.sealed.gangs == {KEY}


def test_what_would_fill_the_memory_is_sealed() -> None:
    """A record with more blanks behind it than any record has bytes is not expanded."""
    lease = lease_of(members(4))
    said = orjson.dumps(v2.gang(lease)) + b" " * v3.CONTENT_LIMIT_BYTES
    body = gang_body(lease_of(members(MOST_MEMBERS)), "me")
    body["metadata"]["annotations"][CONTENT] = base64.b64encode(lzma.compress(said)).decode()
    with pytest.raises(SealedRecord):
        read_gang(body)


def test_a_relocation_of_thousands_of_seats_fits() -> None:
    """4000 members of eight a node move; and 2000 take the place of 2000 others."""
    moving = members(4000, 8)
    seats = tuple(Seat(m.pod, (1, 0, 0), f"old-{m.node}", m.node, Resources(1)) for m in moving)
    comes = tuple(Seat(m.pod, (1, 0, 0), "", m.node, Resources(1)) for m in moving[:2000])
    goes = tuple(Leaver(m.pod, m.node) for m in moving[2000:])
    for one in (
        Relocation(KEY, Purpose.DRAIN, seats, (), version="7"),
        Relocation(KEY, Purpose.PREEMPTION, comes, goes, version="7"),
    ):
        found = read_relocation(relocation_body(one, "me"))
        assert (found.format, len(found.seats)) == (3, len(one.seats))
        assert [seat.node for seat in found.seats] == [seat.node for seat in one.seats]
        assert [x.pod.uid for x in found.leavers] == [x.pod.uid for x in one.leavers]


async def test_a_gang_that_has_no_room_commits_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sixteen pods where a record holds 1000 bytes: bound whole, and nothing is left.

    Until it is at rest its lease is in format 3, and is left alone by who converts records.
    """
    monkeypatch.setattr(envelope, "RECORD_LIMIT_BYTES", 1000)
    world = await World().start()
    wanted = await world.gang("wide", on(0, 1, 2, 3))
    refusing = await Leader(world, "old", None, Formats((1, 2))).take_over()
    (rejected,) = (await refusing.decide(wanted)).rejected
    assert "its gang lease was not written" in rejected.why
    counting = Death(at=0)
    leader = await Leader(world, "a", counting).take_over()
    assert not (await leader.decide(wanted)).rejected
    (lease,) = world.gang_leases()
    assert lease.format == 3
    writes = len(counting.writes)
    await leader.keeping.convert()
    assert len(counting.writes) == writes
    heir = await Leader(world, "b", None, Formats(KNOWN, lambda: 2)).take_over()
    await heir.rest()
    world.check([wanted])
    assert all(body["spec"].get("nodeName") for body in world.pods())
