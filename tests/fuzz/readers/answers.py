"""What the API server says of objects of tenants: pages, objects, watches."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

from fourleaf.agent.grants import Grants
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import JOBS, LEASES, PODS, VOLCANO_POD_GROUPS, Kind
from fourleaf.k8s_bridge.cluster.live.answers import error_of
from fourleaf.k8s_bridge.cluster.slim import event_of, object_of, page_of
from fourleaf.k8s_bridge.informers import Put
from fourleaf.k8s_bridge.ledger.formats.codec import BadRecord, gang_body, page_body
from fourleaf.k8s_bridge.ledger.formats.codec import read_gang as _read_gang
from fourleaf.k8s_bridge.ledger.formats.codec import read_page as _read_page
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Page, Phase
from fourleaf.model.devices.held_devices import DEVICES, devices_in, grant_in
from fourleaf.model.reasons.pod_condition import parsed
from fourleaf.webhook.validate.claims import LONGEST_NAME
from tests.fuzz.law import Reader
from tests.fuzz.seeds import WORLDS, rich, running
from tests.k8s_bridge.ledger.test_codec import GANG, MEMBERS

Body = dict[str, Any]


def _pages(kind: Kind) -> Callable[[bytes], tuple[str, ...]]:
    def pages(data: bytes) -> tuple[str, ...]:
        page_of(kind, data)
        return ()

    return pages


def _events(data: bytes) -> tuple[str, ...]:
    said = event_of(PODS, data)
    if said.type != "ERROR" and isinstance(said.object.get("metadata"), dict):
        metadata = said.object["metadata"]
        notes = metadata.get("annotations")
        if isinstance(notes, dict) and all(isinstance(one, str) for one in notes.values()):
            grant_in(notes)
            devices_in(notes.get(DEVICES, ""))
    return ()


def _objects(data: bytes) -> tuple[str, ...]:
    object_of(PODS, data)
    return ()


def _failures(data: bytes) -> tuple[str, ...]:
    return (str(error_of("pods", 422, {}, data)),)


def _conditions(data: bytes) -> tuple[str, ...]:
    parsed(data.decode(errors="replace"))
    return ()


def _on_the_node(data: bytes) -> tuple[str, ...]:
    """What an agent makes of the pods of its node, as they come slim from the API."""
    grants = Grants()
    for body in page_of(PODS, data).items:
        # Without a name and a UID the API server would not have them.
        if isinstance(body.get("metadata"), dict) and "name" in body["metadata"]:
            grants.change(PODS, Put(body))
    grants.holders(0)
    return ()


def _records(data: bytes) -> tuple[str, ...]:
    body = object_of(LEASES, data)
    if not _is_typed(body):
        return ()
    for reader in (_read_page, _read_gang):
        try:
            reader(body)
        except BadRecord as error:
            raise BadRecord(str(error)) from None
    return ()


def _is_typed(lease: Body) -> bool:
    """Whether the API server would take it."""
    metadata, spec = lease.get("metadata"), lease.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return False
    if len(str(metadata.get("name"))) > LONGEST_NAME:
        return False
    return all(
        isinstance(texts, dict) and all(isinstance(one, str) for one in texts.values())
        for texts in (metadata.get("annotations", {}), metadata.get("labels", {}))
    )


def _page(bodies: list[Body]) -> bytes:
    return json.dumps(
        {"metadata": {"resourceVersion": "5", "continue": ""}, "items": bodies}
    ).encode()


_STATUS = {
    "kind": "Status",
    "message": "no",
    "reason": "Invalid",
    "code": 422,
    "details": {"causes": [{"field": "metadata.uid", "message": "m"}], "retryAfterSeconds": 1},
}
_PODS = [rich("a-0"), running("b-0")]
_EVENT = {"type": "ADDED", "object": running("b-0")}
_ENTRY = Entry("c1", GANG, MEMBERS, "gang-train-1", Phase.PREPARED)
_RECORDS = (
    page_body(Page("leaf-0", 1, ("n0", "n1"), (_ENTRY,), 5, "7"), "me"),
    gang_body(GangLease("gang-x", "c1", GANG, Phase.PREPARED, MEMBERS, ("page-a",), 5, "7"), "me"),
)

READERS = (
    Reader("pages of pods", _pages(PODS), (_page(_PODS),), (ClusterError,)),
    Reader("pages of owners", _pages(JOBS), (_page(WORLDS["owners"]),), (ClusterError,)),
    Reader(
        "pages of groups",
        _pages(VOLCANO_POD_GROUPS),
        (_page(WORLDS["podgroups"]),),
        (ClusterError,),
    ),
    Reader("pod", _objects, (json.dumps(_PODS[1]).encode(),), (ClusterError,)),
    Reader("watch", _events, (json.dumps(_EVENT).encode(),), (ClusterError,)),
    Reader("failures of the API", _failures, (json.dumps(_STATUS).encode(),)),
    Reader("pods on a node", _on_the_node, (_page(_PODS),), (ClusterError,)),
    Reader(
        "records",
        _records,
        tuple(orjson.dumps(one) for one in _RECORDS),
        (BadRecord, ClusterError),
    ),
    Reader("conditions", _conditions, (b"no room. To unblock: wait; go",), json=False),
)
