"""Compact rows: seats and leavers of thousands as one short text each, nodes by their number.

A member that moves is a seat and a leaver; its UID, which nothing compresses, stands there once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.formats.envelope import Strict
from fourleaf.k8s_bridge.ledger.formats.v2 import packed, unpacked
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation, Seat
from fourleaf.model.resources import Resources

_T = TypeVar("_T")

_NONE = "-"
"""Stands for no source."""
_LOST = "lost"


class CompactRows(Strict):
    """`nodes` are those that the envelope does not list; numbers go on after its own.

    A seat is `POD UID HEAD JOB INDEX SOURCE NODE REQUEST`, a leaver `NAMESPACE POD UID NODE` or
    the number of the seat that it leaves for, and one that stays `UID NODE`.
    """

    nodes: list[str]
    seats: list[str]
    leavers: list[str]
    stays: list[str]


def listed_nodes(one: Relocation) -> list[str]:
    """The nodes that the envelope of a relocation lists: those of its seats and leavers."""
    return sorted({seat.node for seat in one.seats} | {leaver.node for leaver in one.leavers})


def compact_rows(one: Relocation, requests: Mapping[Resources, int]) -> dict[str, list[str]]:
    """Seats, leavers and members that stay, as `CompactRows` has them."""
    listed = listed_nodes(one)
    others = {seat.source for seat in one.seats if seat.source} | {node for _, node in one.stays}
    nodes = sorted(others - set(listed))
    places = {name: str(place) for place, name in enumerate([*listed, *nodes])} | {"": _NONE}
    moving = {(seat.pod, seat.source): str(place) for place, seat in enumerate(one.seats)}
    return {
        "nodes": nodes,
        "seats": [_seat_row(seat, places, requests) for seat in one.seats],
        "leavers": [_leaver_row(leaver, moving, places) for leaver in one.leavers],
        "stays": [f"{packed(uid)} {places[node]}" for uid, node in sorted(one.stays)],
    }


def _seat_row(seat: Seat, places: Mapping[str, str], requests: Mapping[Resources, int]) -> str:
    head, job, number = seat.rank
    where = f"{places[seat.source]} {places[seat.node]}"
    pod = f"{seat.pod.name} {packed(seat.pod.uid)}"
    return f"{pod} {head} {job} {number} {where} {requests[seat.request]}"


def _leaver_row(
    leaver: Leaver, moving: Mapping[tuple[Target, str], str], places: Mapping[str, str]
) -> str:
    pod = leaver.pod
    row = moving.get((pod, leaver.node))
    if row is None:
        row = f"{pod.namespace} {pod.name} {packed(pod.uid)} {places[leaver.node]}"
    return f"{row} {_LOST}" if leaver.lost else row


def seats_of(
    rows: Iterable[str], namespace: str, nodes: Sequence[str], requests: Sequence[Resources]
) -> tuple[Seat, ...]:
    """The seats. Raises `ValueError` or `IndexError` where a row makes no sense."""
    found = []
    for row in rows:
        pod, uid, head, job, number, source, node, request = row.split(" ")
        target = Target(namespace, pod, unpacked(uid))
        came = "" if source == _NONE else _at(nodes, source)
        rank = int(head), int(job), int(number)
        found.append(Seat(target, rank, came, _at(nodes, node), _at(requests, request)))
    return tuple(found)


def leavers_of(
    rows: Iterable[str], seats: Sequence[Seat], nodes: Sequence[str]
) -> tuple[Leaver, ...]:
    """The leavers. Raises as `seats_of`."""
    found = []
    for row in rows:
        parts = row.split(" ")
        lost = parts[-1] == _LOST
        match parts[:-1] if lost else parts:
            case [place]:
                seat = _at(seats, place)
                found.append(Leaver(seat.pod, seat.source, lost))
            case [space, pod, uid, node]:
                found.append(Leaver(Target(space, pod, unpacked(uid)), _at(nodes, node), lost))
            case _:
                raise ValueError(f"leaver {row!r} makes no sense")
    return tuple(found)


def stays_of(rows: Iterable[str], nodes: Sequence[str]) -> frozenset[tuple[str, str]]:
    """UID and node of the members that stay. Raises as `seats_of`."""
    pairs = (row.split(" ") for row in rows)
    return frozenset((unpacked(uid), _at(nodes, node)) for uid, node in pairs)


def _at(listed: Sequence[_T], place: str) -> _T:
    number = int(place)
    if number < 0:
        raise IndexError(f"place {place}")
    return listed[number]
