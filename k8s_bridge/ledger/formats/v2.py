"""Format 2: nodes and gangs in the envelope, members as one short text each.

The content names nodes and gangs by their place in the envelope, so nothing stands there twice,
and a member has two quotation marks, not ten, each of which takes two bytes on its way.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats.claims import Claim, claim_row, read_claims
from fourleaf.k8s_bridge.ledger.formats.envelope import (
    About,
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
from fourleaf.k8s_bridge.ledger.formats.v1 import phase_of
from fourleaf.k8s_bridge.ledger.names import ABOUT, CONTENT
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.model.gang import GangKey

NUMBER = 2

_T = TypeVar("_T")

NONE = "-"
"""Stands for no devices."""
_WHOLE = "~"
"""Begins a UID that is no UUID, and stands there as it is."""
_BYTES, _LETTERS = 16, 22
"""Of a UUID, and of the same in base 64 without padding."""

_Member = str | tuple[str, list[Claim]]
"""`POD UID VERSION NODE DEVICES`, the node by its place; with claims where it has some."""


class _EntryV2(Strict):
    commit: str
    gang: int
    members: list[_Member]
    lease: str = ""
    phase: str = Phase.COMMITTED.value
    grants: tuple[GrantRun, ...] = ()


class _PageAbout(About):
    leaf: str
    part: int


class _PageV2(Strict):
    """`owned`: of the nodes of the envelope, how many the page lists; all where it is left out."""

    entries: list[_EntryV2]
    owned: Annotated[int, Field(ge=0)] | None = None


class _GangV2(Strict):
    commit: str
    phase: str
    members: list[_Member]
    pages: list[str]
    grants: tuple[GrantRun, ...] = ()


def page(one: Page) -> Annotations:
    """What the Lease of a page says."""
    nodes = _places([*one.nodes, *(m.node for entry in one.entries for m in entry.members)])
    gangs = _places(str(entry.gang) for entry in one.entries)
    about = {"leaf": one.leaf, "part": one.part, "nodes": list(nodes), "gangs": list(gangs)}
    content: dict[str, Any] = {
        "entries": [_entry(entry, nodes, gangs[str(entry.gang)]) for entry in one.entries]
    }
    if len(nodes) > len(one.nodes):
        content["owned"] = len(one.nodes)
    return said_in(content, NUMBER, about)


def gang(one: GangLease) -> Annotations:
    """What a gang lease says."""
    nodes = _places(member.node for member in one.members)
    content: dict[str, Any] = {
        "commit": one.commit,
        "phase": one.phase.value,
        "members": [_text(member, nodes) for member in one.members],
        "pages": one.pages,
    }
    if runs := grant_runs(one.members):
        content["grants"] = runs
    return said_in(content, NUMBER, {"nodes": list(nodes), "gangs": [str(one.gang)]})


def read_page(body: Body) -> Page:
    """The page that a Lease holds. Raises `BadRecord`."""
    about, found = parsed(body, ABOUT, _PageAbout), parsed(body, CONTENT, _PageV2)
    name = name_of(body)
    gangs = [gang_key(name, text) for text in about.gangs]
    entries = []
    for entry in found.entries:
        key = _at(name, "gang", gangs, entry.gang)
        members = _members(name, key, about.nodes, entry.members)
        members = with_grants(name, members, entry.grants)
        phase = phase_of(name, entry.phase)
        entries.append(Entry(entry.commit, key, members, entry.lease, phase))
    return Page(
        about.leaf,
        about.part,
        tuple(about.nodes[: found.owned]),
        tuple(entries),
        epoch_of(body),
        version_of(body),
        NUMBER,
    )


def read_gang(body: Body) -> GangLease:
    """The gang lease that a Lease holds. Raises `BadRecord`."""
    about, found = parsed(body, ABOUT, About), parsed(body, CONTENT, _GangV2)
    name = name_of(body)
    key = _at(name, "gang", [gang_key(name, text) for text in about.gangs], 0)
    return GangLease(
        name=name,
        commit=found.commit,
        gang=key,
        phase=phase_of(name, found.phase),
        members=with_grants(name, _members(name, key, about.nodes, found.members), found.grants),
        pages=tuple(found.pages),
        epoch=epoch_of(body),
        version=version_of(body),
        format=NUMBER,
    )


def packed(uid: str) -> str:
    """A UID in 22 characters where it is a UUID, as it is and marked where it is not."""
    try:
        raw = bytes.fromhex(uid.replace("-", ""))
    except ValueError:
        return _WHOLE + uid
    if len(raw) != _BYTES or _uuid(raw) != uid:
        return _WHOLE + uid
    return base64.urlsafe_b64encode(raw)[:_LETTERS].decode()


def unpacked(text: str) -> str:
    """The UID that `packed` made `text` of. Raises `ValueError`."""
    if text.startswith(_WHOLE):
        return text[1:]
    try:
        raw = base64.b64decode(text + "==", altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text!r} is no UID: {error}") from None
    if len(raw) != _BYTES:
        raise ValueError(f"{text!r} is no UID: it has {len(raw)} bytes")
    return _uuid(raw)


def _uuid(raw: bytes) -> str:
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _places(names: Iterable[str]) -> dict[str, int]:
    """Each name once, in order, with its place."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _entry(entry: Entry, nodes: dict[str, int], place: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "commit": entry.commit,
        "gang": place,
        "members": [_text(member, nodes) for member in entry.members],
    }
    if entry.lease:
        found["lease"] = entry.lease
    if entry.phase is not Phase.COMMITTED:
        found["phase"] = entry.phase.value
    if runs := grant_runs(entry.members):
        found["grants"] = runs
    return found


def _text(member: Member, nodes: dict[str, int]) -> _Member:
    pod = member.pod
    devices = ranges(member.devices) or NONE
    text = f"{pod.name} {packed(pod.uid)} {pod.version} {nodes[member.node]} {devices}"
    return (text, [claim_row(one) for one in member.claims]) if member.claims else text


def _members(
    name: str, key: GangKey, nodes: Sequence[str], rows: Sequence[_Member]
) -> tuple[Member, ...]:
    return tuple(_member(name, key, nodes, row) for row in rows)


def _member(name: str, key: GangKey, nodes: Sequence[str], row: _Member) -> Member:
    text, claims = (row, []) if isinstance(row, str) else row
    try:
        pod, uid, version, place, devices = text.split(" ")
        target = Target(key.namespace, pod, unpacked(uid), version)
        held = () if devices == NONE else numbers(devices)
        node = _at(name, "node", nodes, int(place))
    except ValueError as error:
        raise BadRecord(f"lease {name}: member {text!r}: {error}") from None
    return Member(target, node, held, read_claims(key.namespace, claims))


def _at(name: str, what: str, listed: Sequence[_T], place: int) -> _T:
    if not 0 <= place < len(listed):
        raise BadRecord(f"lease {name}: {what} {place} is not one of {len(listed)}")
    return listed[place]
