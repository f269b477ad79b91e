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
from fourleaf.k8s_bridge.ledger.formats import envelope, v2
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN, gang_body, read_gang
from fourleaf.k8s_bridge.ledger.formats.compression import CONTENT_LIMIT_BYTES, packed, unpacked
from fourleaf.k8s_bridge.ledger.formats.envelope import RECORD_LIMIT_BYTES
from fourleaf.k8s_bridge.ledger.names import ABOUT, CONTENT, FORMAT
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
    said = orjson.dumps(v2.gang(lease)) + b" " * CONTENT_LIMIT_BYTES
    body = gang_body(lease_of(members(MOST_MEMBERS)), "me")
    body["metadata"]["annotations"][CONTENT] = base64.b64encode(lzma.compress(said)).decode()
    with pytest.raises(SealedRecord):
        read_gang(body)


def cloud_node(number: int) -> str:
    """A node's name as a cloud makes it, of 60 characters of which four are drawn by lot."""
    lot = random.Random(number)  # noqa: S311
    pool = ("3f2a9c1b", "77ab12cd", "0a1b2c3d", "9f8e7d6c")[number % 4]
    drawn = "".join(lot.choices("0123456789abcdefghijklmnopqrstuvwxyz", k=4))
    return f"gke-production-europe-west4-h100-mega-gpu-pool-{pool}-{drawn}"


def relocation_of(count: int, stays: int = 0) -> Relocation:
    """As many members, one a node, move to as many other nodes; every tenth is lost."""
    moving = members(count)
    seats = tuple(
        Seat(m.pod, (1, 0, i), cloud_node(i), cloud_node(count + i), Resources(8))
        for i, m in enumerate(replace(m, pod=replace(m.pod, version="")) for m in moving)
    )
    leavers = tuple(Leaver(seat.pod, seat.source, i % 10 == 0) for i, seat in enumerate(seats))
    stood = frozenset((random_uid(-i), cloud_node(-i)) for i in range(1, stays + 1))
    return Relocation(KEY, Purpose.DRAIN, seats, leavers, stood, version="7")


@pytest.mark.parametrize(("moves", "stays"), [(4000, 0), (8, 3992)])
def test_a_relocation_over_thousands_of_nodes_fits(moves: int, stays: int) -> None:
    """4000 members leave 4000 nodes for 4000 others; or a few do, and all others stay.

    It comes back as it was, and a version that cannot read it leaves all those nodes alone.
    """
    one = relocation_of(moves, stays)
    assert len({len(seat.node) for seat in one.seats} | {60}) == 1
    body = relocation_body(one, "me")
    assert read_relocation(body) == replace(one, format=3)
    with pytest.raises(SealedRecord) as found:
        read_relocation(body, known=(1, 2))
    assert found.value.sealed.nodes == {
        node for seat in one.seats for node in (seat.source, seat.node)
    }
    assert found.value.sealed.gangs == {KEY}


def test_victims_of_others_are_written_too() -> None:
    """Members come to the places of pods of other gangs, some of which are there twice by name."""
    comes = tuple(replace(seat, source="") for seat in relocation_of(500).seats)
    goes = tuple(
        Leaver(Target(f"team-{i % 3}", f"victim-{i}", f"uid-{i}"), seat.node)
        for i, seat in enumerate(comes)
    )
    one = Relocation(KEY, Purpose.PREEMPTION, comes, goes, version="7", format=3)
    assert read_relocation(relocation_body(one, "me")) == one


def test_more_than_any_record_holds_is_refused() -> None:
    """As many seats with a victim each that is drawn by lot: 8000 UIDs alone are 170 KB."""
    comes = tuple(replace(seat, source="") for seat in relocation_of(4000).seats)
    goes = tuple(
        Leaver(Target("ml", f"victim-{random_uid(9000 + i)}", random_uid(i)), seat.node)
        for i, seat in enumerate(comes)
    )
    with pytest.raises(BadRecord, match="above 256000"):
        relocation_body(Relocation(KEY, Purpose.PREEMPTION, comes, goes), "me")


@pytest.mark.parametrize("nodes", ["?", packed([1]), packed({}), packed(["n"])[:-8]])
def test_an_envelope_that_makes_no_sense_holds_nothing(nodes: str) -> None:
    """Its nodes cannot be read by any version: the record is bad, and not taken for empty."""
    body = relocation_body(replace(relocation_of(2), format=3), "me")
    about = orjson.dumps({"nodes": [], "gangs": [str(KEY)], "packed": nodes}).decode()
    body["metadata"]["annotations"][ABOUT] = about
    with pytest.raises(BadRecord):
        read_relocation(body)
    with pytest.raises(SealedRecord) as found:
        read_relocation(body, known=(1, 2))
    assert found.value.sealed.opaque


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("seats", ["a b"]),
        ("seats", ["a ~u 1 0 0 - -1 0"]),
        ("seats", ["a ~u 1 0 0 - 9 0"]),
        ("leavers", ["9"]),
        ("leavers", ["a b c"]),
        ("stays", ["~u"]),
    ],
)
def test_rows_that_make_no_sense_are_sealed(key: str, rows: list[str]) -> None:
    """Too few words, or a number that nothing has: the envelope still counts."""
    body = relocation_body(replace(relocation_of(2), format=3), "me")
    said = unpacked(body["metadata"]["annotations"][CONTENT])
    content = orjson.loads(said[CONTENT]) | {key: rows}
    body["metadata"]["annotations"][CONTENT] = packed({CONTENT: orjson.dumps(content).decode()})
    with pytest.raises(SealedRecord) as found:
        read_relocation(body)
    assert len(found.value.sealed.nodes) == 4


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
