"""Pages and gang leases as Leases: written as compact JSON, read strictly."""

from __future__ import annotations

from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from k8s_bridge.cluster.protocol import Body, Target
from k8s_bridge.ledger.fence import epoch_read
from k8s_bridge.ledger.names import CONTENT, GANG, PAGE, RECORD, page_name
from k8s_bridge.ledger.ranges import numbers, ranges
from k8s_bridge.ledger.records import ClaimAllocation, Entry, GangLease, Member, Page, Phase
from model.devices.names import DeviceName
from model.gang import GangKey

LARGEST = 250 * 1024
"""Bytes of a record; the API refuses annotations of more than 256 KiB."""

RESERVE = 10 * 1024
"""Bytes of a page that no new entry takes: entries grow when their commits roll back."""


_Model = TypeVar("_Model", bound=BaseModel)


class BadRecord(Exception):
    """A Lease of ours that does not say what it should."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


_Numbered = tuple[str, str, str, str, str]
"""A member: pod, UID, version, node, devices as numbers and ranges (`0-3,6`)."""
_Group = tuple[str, str, str, list[str]]
"""Devices of one request: its name, their driver, pool and names."""
_Claim = tuple[str, str, str, list[_Group]]
"""A ResourceClaim: name, UID, version, devices."""
_Claiming = tuple[str, str, str, str, str, list[_Claim]]
"""A member whose devices are claimed."""
_Row = _Numbered | _Claiming


def _row(member: Member) -> _Row:
    pod = member.pod
    row = (pod.name, pod.uid, pod.version, member.node, ranges(member.devices))
    return (*row, [_claim(one) for one in member.claims]) if member.claims else row


def _claim(allocation: ClaimAllocation) -> _Claim:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for request, name in allocation.devices:
        groups.setdefault((request, name.driver, name.pool), []).append(name.device)
    claim = allocation.claim
    listed = [(*key, names) for key, names in groups.items()]
    return (claim.name, claim.uid, claim.version, listed)


def _member(namespace: str, row: _Row) -> Member:
    pod, uid, version, node, devices, *claims = row
    allocations = tuple(_allocation(namespace, one) for listed in claims for one in listed)
    return Member(Target(namespace, pod, uid, version), node, numbers(devices), allocations)


def _allocation(namespace: str, claim: _Claim) -> ClaimAllocation:
    name, uid, version, groups = claim
    devices = tuple(
        (request, DeviceName(driver, pool, device))
        for request, driver, pool, names in groups
        for device in names
    )
    return ClaimAllocation(Target(namespace, name, uid, version), devices)


class _Entry(_Strict):
    """Records travel often, so `lease` and `phase` are left out where they are the usual ones."""

    commit: str
    gang: str
    members: list[_Row]
    lease: str = ""
    phase: str = Phase.COMMITTED.value


class _Page(_Strict):
    leaf: str
    part: int
    nodes: list[str]
    entries: list[_Entry]


class _Gang(_Strict):
    commit: str
    gang: str
    phase: str
    members: list[_Row]
    pages: list[str]


def _lease(name: str, record: str, version: str, epoch: int, writer: str, content: Any) -> Body:
    text = orjson.dumps(content).decode()
    if len(text) > LARGEST:
        raise BadRecord(f"lease {name} would hold {len(text)} bytes, above {LARGEST}")
    metadata: Body = {
        "name": name,
        "labels": {"app.kubernetes.io/name": "fourleaf", RECORD: record},
        "annotations": {CONTENT: text},
    }
    if version:
        metadata["resourceVersion"] = version
        # Asks the API to keep no list of who owns which field, which would double the answer.
        metadata["managedFields"] = [{}]
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": {"holderIdentity": writer, "leaseTransitions": epoch},
    }


def page_body(page: Page, writer: str) -> Body:
    """The Lease that `page` is written as. Raises `BadRecord` where it is too large."""
    name = page_name(page.leaf, page.part)
    return _lease(name, PAGE, page.version, page.epoch, writer, _page(page))


def room_on(page: Page) -> int:
    """Bytes that further entries of `page` may take."""
    return LARGEST - RESERVE - len(orjson.dumps(_page(page)))


def entry_size(entry: Entry) -> int:
    """Bytes that `entry` takes on its page."""
    return len(orjson.dumps(_entry(entry))) + len(",")


def gang_body(lease: GangLease, writer: str) -> Body:
    """The Lease that a gang lease is written as. Raises `BadRecord` where it is too large."""
    content = {
        "commit": lease.commit,
        "gang": str(lease.gang),
        "phase": lease.phase.value,
        "members": [_row(member) for member in lease.members],
        "pages": lease.pages,
    }
    return _lease(lease.name, GANG, lease.version, lease.epoch, writer, content)


def read_page(body: Body) -> Page:
    """The page that a Lease holds. Raises `BadRecord`."""
    found = _content(body, _Page)
    name = _name(body)
    if page_name(found.leaf, found.part) != name:
        raise BadRecord(f"lease {name} holds the page of leaf {found.leaf}, part {found.part}")
    entries = tuple(_read_entry(name, entry) for entry in found.entries)
    return Page(found.leaf, found.part, tuple(found.nodes), entries, _epoch(body), _version(body))


def read_gang(body: Body) -> GangLease:
    """The gang lease that a Lease holds. Raises `BadRecord`."""
    found = _content(body, _Gang)
    name = _name(body)
    gang = _key(name, found.gang)
    return GangLease(
        name=name,
        commit=found.commit,
        gang=gang,
        phase=_phase(name, found.phase),
        members=_members(name, gang, found.members),
        pages=tuple(found.pages),
        epoch=_epoch(body),
        version=_version(body),
    )


def _page(page: Page) -> dict[str, Any]:
    return {
        "leaf": page.leaf,
        "part": page.part,
        "nodes": page.nodes,
        "entries": [_entry(entry) for entry in page.entries],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = {
        "commit": entry.commit,
        "gang": str(entry.gang),
        "members": [_row(member) for member in entry.members],
    }
    if entry.lease:
        found["lease"] = entry.lease
    if entry.phase is not Phase.COMMITTED:
        found["phase"] = entry.phase.value
    return found


def _read_entry(name: str, entry: _Entry) -> Entry:
    gang = _key(name, entry.gang)
    members = _members(name, gang, entry.members)
    return Entry(entry.commit, gang, members, entry.lease, _phase(name, entry.phase))


def _key(name: str, text: str) -> GangKey:
    namespace, slash, gang = text.partition("/")
    if not slash:
        raise BadRecord(f"lease {name}: gang {text!r} is not NAMESPACE/NAME")
    return GangKey(namespace, gang)


def _members(name: str, gang: GangKey, rows: list[_Row]) -> tuple[Member, ...]:
    try:
        return tuple(_member(gang.namespace, row) for row in rows)
    except ValueError as error:
        raise BadRecord(f"lease {name}: devices: {error}") from None


def _content(body: Body, model: type[_Model]) -> _Model:
    annotations = body.get("metadata", {}).get("annotations") or {}
    try:
        return model.model_validate_json(annotations.get(CONTENT, ""))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or CONTENT
        raise BadRecord(f"lease {_name(body)}: {field}: {first['msg']}") from error


def _phase(name: str, text: str) -> Phase:
    try:
        return Phase(text)
    except ValueError:
        raise BadRecord(f"lease {name}: phase {text!r} is unknown") from None


def _name(body: Body) -> str:
    return str(body.get("metadata", {}).get("name", "?"))


def _version(body: Body) -> str:
    return str(body.get("metadata", {}).get("resourceVersion", ""))


def _epoch(body: Body) -> int:
    return epoch_read((body.get("spec") or {}).get("leaseTransitions"))
