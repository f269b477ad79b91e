"""Relocations as Leases: written as compact JSON, read strictly.

Format 2 has an envelope besides, and says in its content what format 1 does; format 3 compresses
that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import partial

from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats import v3
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN, read_as
from fourleaf.k8s_bridge.ledger.formats.envelope import (
    Strict,
    epoch_of,
    has_room,
    lease_body,
    name_of,
    parsed,
    said_in,
    version_of,
)
from fourleaf.k8s_bridge.ledger.names import ABOUT, CONTENT, RECORD
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources

RELOCATION = "relocation"
RELOCATIONS = f"{RECORD}={RELOCATION}"

_SeatRow = tuple[str, str, list[int], str, str, int]
"""Pod, UID, rank, source, node, number of its request."""
_LeaverRow = tuple[str, str, str, str, bool]
"""Namespace, pod, UID, node, lost."""
_Request = tuple[int, int | None, int | None, int, list[tuple[str, int]]]


class _Content(Strict):
    gang: str
    purpose: str
    requests: list[_Request]
    seats: list[_SeatRow]
    leavers: list[_LeaverRow]
    stays: list[tuple[str, str]]
    priority: int
    owner: str
    why: str
    opened: float
    until: float
    starts: float


def relocation_name(gang: GangKey) -> str:
    """The name of the Lease of the relocation of `gang`: there can be no two."""
    slug = re.sub(r"[^a-z0-9]+", "-", gang.name.lower())[:40].strip("-") or "x"
    return f"relocation-{slug}-{hashlib.sha256(str(gang).encode()).hexdigest()[:10]}"


def relocation_body(one: Relocation, writer: str, known: Iterable[int] = KNOWN) -> Body:
    """The Lease that `one` is written as, in format 3 where the others have no room for it.

    Raises `BadRecord` where it is too large.
    """
    name = relocation_name(one.gang)
    distinct = dict.fromkeys(seat.request for seat in one.seats)
    requests = {request: number for number, request in enumerate(distinct)}
    content = {
        "gang": str(one.gang),
        "purpose": one.purpose.value,
        "requests": [[r.gpus, r.cpu, r.memory, r.pods, r.extra] for r in requests],
        "seats": [
            [s.pod.name, s.pod.uid, s.rank, s.source, s.node, requests[s.request]]
            for s in one.seats
        ],
        "leavers": [[x.pod.namespace, x.pod.name, x.pod.uid, x.node, x.lost] for x in one.leavers],
        "stays": sorted(one.stays),
        "priority": one.priority,
        "owner": one.owner,
        "why": one.why,
        "opened": one.opened,
        "until": one.until,
        "starts": one.starts,
    }
    nodes = sorted({seat.node for seat in one.seats} | {leaver.node for leaver in one.leavers})
    about = {"nodes": nodes, "gangs": [str(one.gang)]}
    said = said_in(content, one.format, about)
    if one.format == v3.NUMBER or (not has_room(said) and v3.NUMBER in known):
        envelope = said_in(content, v3.NUMBER, about)
        said = v3.compressed(envelope, envelope[ABOUT])
    return lease_body(name, RELOCATION, said, one.version, one.epoch, writer)


def read_relocation(body: Body, known: Iterable[int] = KNOWN) -> Relocation:
    """The relocation that a Lease holds.

    Raises `BadRecord`, `SealedRecord` where its envelope says what it is about.
    """
    return read_as(body, known, {number: partial(_read, number) for number in KNOWN})


def _read(number: int, body: Body) -> Relocation:
    found = parsed(v3.expanded(body) if number == v3.NUMBER else body, CONTENT, _Content)
    try:
        requests = [_resources(row) for row in found.requests]
        namespace, _, gang = found.gang.partition("/")
        return Relocation(
            gang=GangKey(namespace, gang),
            purpose=Purpose(found.purpose),
            seats=tuple(_seat(namespace, row, requests) for row in found.seats),
            leavers=tuple(
                Leaver(Target(space, pod, uid), node, lost)
                for space, pod, uid, node, lost in found.leavers
            ),
            stays=frozenset(found.stays),
            priority=found.priority,
            owner=found.owner,
            why=found.why,
            opened=found.opened,
            until=found.until,
            starts=found.starts,
            epoch=epoch_of(body),
            version=version_of(body),
            format=number,
        )
    except (ValueError, IndexError) as error:
        raise BadRecord(f"lease {name_of(body)}: {error}") from error


def _seat(namespace: str, row: _SeatRow, requests: list[Resources]) -> Seat:
    pod, uid, rank, source, node, request = row
    head, job, number = rank
    return Seat(Target(namespace, pod, uid), (head, job, number), source, node, requests[request])


def _resources(row: _Request) -> Resources:
    gpus, cpu, memory, pods, extra = row
    return Resources(gpus, cpu, memory, pods, tuple(extra))
