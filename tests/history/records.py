"""What pages, gang leases and relocations say, decoded from their Leases as published."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]

RECORD = "alloc.gpu.scheduling/record"
CONTENT = "alloc.gpu.scheduling/content"
PAGE, GANG, RELOCATION = "page", "gang", "relocation"
COMMITTED, ROLLING_BACK, PREPARED = "Committed", "RollingBack", "Prepared"


@dataclass(frozen=True, slots=True)
class Row:
    """A member in a record: the pod's UID and its node."""

    uid: str
    pod: str
    node: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What a commit holds on a page; with `lease`, that gang lease says whether it counts."""

    commit: str
    rows: tuple[Row, ...]
    lease: str
    phase: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it stands: the nodes it lists, its entries, and the epoch of its writer."""

    name: str
    epoch: int
    nodes: tuple[str, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class GangLease:
    """A gang lease as it stands: one wide commit, its phase, members, and pages."""

    name: str
    epoch: int
    commit: str
    phase: str
    rows: tuple[Row, ...]
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leaver:
    """A pod, NAMESPACE/NAME, that has to go from `node`. `lost`: its node is dead, and so is it."""

    uid: str
    pod: str
    node: str
    lost: bool


@dataclass(frozen=True, slots=True)
class Relocation:
    """The relocation of a gang, NAMESPACE/NAME, as it stands.

    `seats` name the members that leave for them, or wait for them. `owner` is the UID of what
    makes another pod in the place of one that is a gang by itself. `until` in seconds since 1970.
    """

    name: str
    gang: str
    purpose: str
    seats: tuple[Row, ...]
    leavers: tuple[Leaver, ...]
    owner: str
    until: float


Record = Page | GangLease | Relocation


def kind_of(lease: Body) -> str:
    """What the Lease records: "page", "gang", "relocation", or "" where it is no record of ours."""
    return str((lease["metadata"].get("labels") or {}).get(RECORD, ""))


def record_of(lease: Body) -> Record | None:
    """The record that a Lease holds; None where it holds none, or one that makes no sense."""
    kind = kind_of(lease)
    try:
        content = json.loads((lease["metadata"].get("annotations") or {}).get(CONTENT, ""))
        if kind == PAGE:
            return _page(lease, content)
        if kind == GANG:
            return _gang(lease, content)
        if kind == RELOCATION:
            return _relocation(lease, content)
    except (ValueError, KeyError, TypeError):
        return None
    return None


def epoch_of(lease: Body) -> int:
    """The epoch of the last writer, 0 where the Lease says none."""
    return int((lease.get("spec") or {}).get("leaseTransitions") or 0)


def pages(leases: tuple[Body, ...]) -> Iterator[Page]:
    """The pages among Leases."""
    for lease in leases:
        record = record_of(lease)
        if isinstance(record, Page):
            yield record


def _page(lease: Body, content: Body) -> Page:
    entries = tuple(
        Entry(
            one["commit"], _rows(one["members"]), one.get("lease", ""), one.get("phase", COMMITTED)
        )
        for one in content["entries"]
    )
    return Page(lease["metadata"]["name"], epoch_of(lease), tuple(content["nodes"]), entries)


def _gang(lease: Body, content: Body) -> GangLease:
    return GangLease(
        lease["metadata"]["name"],
        epoch_of(lease),
        content["commit"],
        content["phase"],
        _rows(content["members"]),
        tuple(content["pages"]),
    )


def _relocation(lease: Body, content: Body) -> Relocation:
    return Relocation(
        lease["metadata"]["name"],
        content["gang"],
        content["purpose"],
        tuple(Row(uid, pod, node) for pod, uid, _, _, node, *_ in content["seats"]),
        tuple(
            Leaver(uid, f"{namespace}/{pod}", node, lost)
            for namespace, pod, uid, node, lost in content["leavers"]
        ),
        content["owner"],
        content["until"],
    )


def _rows(rows: list[list[str]]) -> tuple[Row, ...]:
    return tuple(Row(uid, pod, node) for pod, uid, _, node, *_ in rows)
