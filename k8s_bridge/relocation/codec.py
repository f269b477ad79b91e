"""Relocations as Leases: written as compact JSON, read strictly.

Format 2 has an envelope besides, and says in its content what format 1 does. Format 3 is
compressed: its content, of compact rows, as well as the nodes of its envelope.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats import v3
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN, read_as
from fourleaf.k8s_bridge.ledger.formats.compression import packed
from fourleaf.k8s_bridge.ledger.formats.envelope import (
    About,
    Annotations,
    Strict,
    epoch_of,
    gang_key,
    has_room,
    lease_body,
    name_of,
    parsed,
    said_in,
    version_of,
)
from fourleaf.k8s_bridge.ledger.names import ABOUT, CONTENT, RECORD
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.k8s_bridge.relocation.compact_rows import (
    CompactRows,
    compact_rows,
    leavers_of,
    listed_nodes,
    seats_of,
    stays_of,
)
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


class _Common(Strict):
    """What a relocation says in every format."""

    gang: str
    purpose: str
    requests: list[_Request]
    priority: int
    owner: str
    why: str
    opened: float
    until: float
    starts: float
    bandwidth: int | None = None


class _Content(_Common):
    """Formats 1 and 2."""

    seats: list[_SeatRow]
    leavers: list[_LeaverRow]
    stays: list[tuple[str, str]]


class _CompactContent(_Common, CompactRows):
    """Format 3."""


def relocation_name(gang: GangKey) -> str:
    """The name of the Lease of the relocation of `gang`: there can be no two.

    Another gang may have the same by its 40 bits, whose record is none of this one.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", gang.name.lower())[:40].strip("-") or "x"
    return f"relocation-{slug}-{hashlib.sha256(str(gang).encode()).hexdigest()[:10]}"


def relocation_body(one: Relocation, writer: str, known: Iterable[int] = KNOWN) -> Body:
    """The Lease that `one` is written as, in format 3 where the others have no room for it.

    Raises `BadRecord` where it is too large.
    """
    number = one.format
    said = _annotations(one, number)
    if number != v3.NUMBER and not has_room(said) and v3.NUMBER in known:
        said = _annotations(one, v3.NUMBER)
    return lease_body(relocation_name(one.gang), RELOCATION, said, one.version, one.epoch, writer)


def _annotations(one: Relocation, number: int) -> Annotations:
    """What the Lease of `one` says in that format."""
    distinct = dict.fromkeys(seat.request for seat in one.seats)
    requests = {request: place for place, request in enumerate(distinct)}
    content: dict[str, Any] = {
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
    if one.bandwidth is not None:
        content["bandwidth"] = one.bandwidth
    about: dict[str, Any] = {"nodes": listed_nodes(one), "gangs": [str(one.gang)]}
    if number != v3.NUMBER:
        return said_in(content, number, about)
    about |= {"nodes": [], "packed": packed(about["nodes"])}
    said = said_in(content | compact_rows(one, requests), number, about)
    return v3.compressed({CONTENT: said[CONTENT]}, said[ABOUT])


def read_relocation(body: Body, known: Iterable[int] = KNOWN) -> Relocation:
    """The relocation that a Lease holds.

    Raises `BadRecord`, `SealedRecord` where its envelope says what it is about.
    """
    return read_as(body, known, {number: partial(_read, number) for number in KNOWN})


def _read(number: int, body: Body) -> Relocation:
    try:
        return _compact_relocation(body) if number == v3.NUMBER else _relocation(body, number)
    except (ValueError, IndexError) as error:
        raise BadRecord(f"lease {name_of(body)}: {error}") from error


def _relocation(body: Body, number: int) -> Relocation:
    found = parsed(body, CONTENT, _Content)
    namespace = found.gang.partition("/")[0]
    requests = [_resources(row) for row in found.requests]
    seats = tuple(_seat(namespace, row, requests) for row in found.seats)
    leavers = tuple(
        Leaver(Target(space, pod, uid), node, lost) for space, pod, uid, node, lost in found.leavers
    )
    return _of(found, body, number, seats, leavers, frozenset(found.stays))


def _compact_relocation(body: Body) -> Relocation:
    found = parsed(v3.expanded(body), CONTENT, _CompactContent)
    nodes = [*parsed(body, ABOUT, About).all_nodes, *found.nodes]
    requests = [_resources(row) for row in found.requests]
    seats = seats_of(found.seats, found.gang.partition("/")[0], nodes, requests)
    leavers = leavers_of(found.leavers, seats, nodes)
    return _of(found, body, v3.NUMBER, seats, leavers, stays_of(found.stays, nodes))


def _of(
    found: _Common,
    body: Body,
    number: int,
    seats: tuple[Seat, ...],
    leavers: tuple[Leaver, ...],
    stays: frozenset[tuple[str, str]],
) -> Relocation:
    gang = gang_key(name_of(body), found.gang)
    if relocation_name(gang) != name_of(body):
        raise BadRecord(f"lease {name_of(body)}: gang {gang} has its relocation elsewhere")
    return Relocation(
        gang=gang,
        purpose=Purpose(found.purpose),
        seats=seats,
        leavers=leavers,
        stays=stays,
        priority=found.priority,
        owner=found.owner,
        why=found.why,
        opened=found.opened,
        until=found.until,
        starts=found.starts,
        bandwidth=found.bandwidth,
        epoch=epoch_of(body),
        version=version_of(body),
        format=number,
    )


def _seat(namespace: str, row: _SeatRow, requests: list[Resources]) -> Seat:
    pod, uid, rank, source, node, request = row
    head, job, number = rank
    return Seat(Target(namespace, pod, uid), (head, job, number), source, node, requests[request])


def _resources(row: _Request) -> Resources:
    gpus, cpu, memory, pods, extra = row
    return Resources(gpus, cpu, memory, pods, tuple(extra))
