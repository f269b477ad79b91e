"""Pages and gang leases as Leases: written as compact JSON, read strictly."""

from __future__ import annotations

from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from k8s_bridge.cluster.protocol import Body, Target
from k8s_bridge.ledger.names import CONTENT, GANG, PAGE, RECORD, page_name
from k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from model.gang import GangKey

LARGEST = 250 * 1024
"""Bytes of a record; the API refuses annotations of more than 256 KiB."""


_Model = TypeVar("_Model", bound=BaseModel)


class BadRecord(Exception):
    """A Lease of ours that does not say what it should."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class _Member(_Strict):
    pod: str
    uid: str
    version: str
    node: str
    devices: list[int]

    @classmethod
    def of(cls, member: Member) -> dict[str, Any]:
        return {
            "pod": member.pod.name,
            "uid": member.pod.uid,
            "version": member.pod.version,
            "node": member.node,
            "devices": member.devices,
        }

    def made(self, namespace: str) -> Member:
        pod = Target(namespace, self.pod, self.uid, self.version)
        return Member(pod, self.node, tuple(self.devices))


class _Entry(_Strict):
    commit: str
    namespace: str
    gang: str
    members: list[_Member]
    lease: str = ""
    phase: str = Phase.COMMITTED.value


class _Page(_Strict):
    leaf: str
    part: int
    nodes: list[str]
    entries: list[_Entry]


class _Gang(_Strict):
    commit: str
    namespace: str
    gang: str
    phase: str
    members: list[_Member]
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
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": {"holderIdentity": writer, "leaseTransitions": epoch},
    }


def page_body(page: Page, writer: str) -> Body:
    """The Lease that `page` is written as. Raises `BadRecord` where it is too large."""
    content = {
        "leaf": page.leaf,
        "part": page.part,
        "nodes": page.nodes,
        "entries": [
            {
                "commit": entry.commit,
                "namespace": entry.gang.namespace,
                "gang": entry.gang.name,
                "members": [_Member.of(member) for member in entry.members],
                "lease": entry.lease,
                "phase": entry.phase.value,
            }
            for entry in page.entries
        ],
    }
    name = page_name(page.leaf, page.part)
    return _lease(name, PAGE, page.version, page.epoch, writer, content)


def gang_body(lease: GangLease, writer: str) -> Body:
    """The Lease that a gang lease is written as. Raises `BadRecord` where it is too large."""
    content = {
        "commit": lease.commit,
        "namespace": lease.gang.namespace,
        "gang": lease.gang.name,
        "phase": lease.phase.value,
        "members": [_Member.of(member) for member in lease.members],
        "pages": lease.pages,
    }
    return _lease(lease.name, GANG, lease.version, lease.epoch, writer, content)


def read_page(body: Body) -> Page:
    """The page that a Lease holds. Raises `BadRecord`."""
    found = _content(body, _Page)
    name = _name(body)
    if page_name(found.leaf, found.part) != name:
        raise BadRecord(f"lease {name} holds the page of leaf {found.leaf}, part {found.part}")
    entries = tuple(
        Entry(
            entry.commit,
            GangKey(entry.namespace, entry.gang),
            tuple(member.made(entry.namespace) for member in entry.members),
            entry.lease,
            _phase(name, entry.phase),
        )
        for entry in found.entries
    )
    return Page(found.leaf, found.part, tuple(found.nodes), entries, _epoch(body), _version(body))


def read_gang(body: Body) -> GangLease:
    """The gang lease that a Lease holds. Raises `BadRecord`."""
    found = _content(body, _Gang)
    name = _name(body)
    return GangLease(
        name=name,
        commit=found.commit,
        gang=GangKey(found.namespace, found.gang),
        phase=_phase(name, found.phase),
        members=tuple(member.made(found.namespace) for member in found.members),
        pages=tuple(found.pages),
        epoch=_epoch(body),
        version=_version(body),
    )


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
    epoch = (body.get("spec") or {}).get("leaseTransitions")
    return epoch if isinstance(epoch, int) else 0
