"""Format 1: everything in one JSON object, members as rows of texts."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats.claims import Claim, claim_row, read_claims
from fourleaf.k8s_bridge.ledger.formats.envelope import (
    Annotations,
    Strict,
    epoch_of,
    gang_key,
    name_of,
    parsed,
    said_in,
    version_of,
)
from fourleaf.k8s_bridge.ledger.formats.grants import GrantRun, grant_runs, with_grants
from fourleaf.k8s_bridge.ledger.formats.ranges import numbers, ranges
from fourleaf.k8s_bridge.ledger.names import CONTENT
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.model.gang import GangKey

NUMBER = 1

_Numbered = tuple[str, str, str, str, str]
"""A member: pod, UID, version, node, devices as numbers and ranges (`0-3,6`)."""
_Claiming = tuple[str, str, str, str, str, list[Claim]]
"""A member whose devices are claimed."""
_Row = _Numbered | _Claiming


class _EntryV1(Strict):
    """Records travel often, so `lease` and `phase` are left out where they are the usual ones."""

    commit: str
    gang: str
    members: list[_Row]
    lease: str = ""
    phase: str = Phase.COMMITTED.value
    grants: tuple[GrantRun, ...] = ()


class _PageV1(Strict):
    leaf: str
    part: int
    nodes: list[str]
    entries: list[_EntryV1]


class _GangV1(Strict):
    commit: str
    gang: str
    phase: str
    members: list[_Row]
    pages: list[str]
    grants: tuple[GrantRun, ...] = ()


def page(one: Page) -> Annotations:
    """What the Lease of a page says."""
    return said_in(page_content(one))


def page_content(one: Page) -> dict[str, Any]:
    """The content of a page."""
    return {
        "leaf": one.leaf,
        "part": one.part,
        "nodes": one.nodes,
        "entries": [entry_content(entry) for entry in one.entries],
    }


def entry_content(entry: Entry) -> dict[str, Any]:
    """An entry in the content of its page."""
    found: dict[str, Any] = {
        "commit": entry.commit,
        "gang": str(entry.gang),
        "members": [_row(member) for member in entry.members],
    }
    if entry.lease:
        found["lease"] = entry.lease
    if entry.phase is not Phase.COMMITTED:
        found["phase"] = entry.phase.value
    if runs := grant_runs(entry.members):
        found["grants"] = runs
    return found


def gang(one: GangLease) -> Annotations:
    """What a gang lease says."""
    content: dict[str, Any] = {
        "commit": one.commit,
        "gang": str(one.gang),
        "phase": one.phase.value,
        "members": [_row(member) for member in one.members],
        "pages": one.pages,
    }
    if runs := grant_runs(one.members):
        content["grants"] = runs
    return said_in(content)


def read_page(body: Body) -> Page:
    """The page that a Lease holds. Raises `BadRecord`."""
    found = parsed(body, CONTENT, _PageV1)
    name = name_of(body)
    entries = tuple(_read_entry(name, entry) for entry in found.entries)
    nodes = tuple(found.nodes)
    return Page(found.leaf, found.part, nodes, entries, epoch_of(body), version_of(body))


def read_gang(body: Body) -> GangLease:
    """The gang lease that a Lease holds. Raises `BadRecord`."""
    found = parsed(body, CONTENT, _GangV1)
    name = name_of(body)
    key = gang_key(name, found.gang)
    return GangLease(
        name=name,
        commit=found.commit,
        gang=key,
        phase=phase_of(name, found.phase),
        members=with_grants(name, _members(name, key, found.members), found.grants),
        pages=tuple(found.pages),
        epoch=epoch_of(body),
        version=version_of(body),
    )


def phase_of(name: str, text: str) -> Phase:
    """The phase that a record calls `text`. Raises `BadRecord`."""
    try:
        return Phase(text)
    except ValueError:
        raise BadRecord(f"lease {name}: phase {text!r} is unknown") from None


def _row(member: Member) -> _Row:
    pod = member.pod
    row = (pod.name, pod.uid, pod.version, member.node, ranges(member.devices))
    return (*row, [claim_row(one) for one in member.claims]) if member.claims else row


def _read_entry(name: str, entry: _EntryV1) -> Entry:
    key = gang_key(name, entry.gang)
    members = with_grants(name, _members(name, key, entry.members), entry.grants)
    return Entry(entry.commit, key, members, entry.lease, phase_of(name, entry.phase))


def _members(name: str, key: GangKey, rows: list[_Row]) -> tuple[Member, ...]:
    try:
        return tuple(_member(key.namespace, row) for row in rows)
    except ValueError as error:
        raise BadRecord(f"lease {name}: devices: {error}") from None


def _member(namespace: str, row: _Row) -> Member:
    pod, uid, version, node, devices, *claims = row
    allocations = read_claims(namespace, (one for listed in claims for one in listed))
    return Member(Target(namespace, pod, uid, version), node, numbers(devices), allocations)
