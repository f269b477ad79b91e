"""A cluster as a scheduler has it: the cache that watches fill, and what is told after a cycle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import orjson

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster import kinds as known
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.cluster.slim import object_of
from fourleaf.k8s_bridge.informers import Put, Removed
from fourleaf.k8s_bridge.relocation.pod_makers import lacking
from fourleaf.k8s_bridge.reporting.after_cycle import after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.k8s_bridge.reporting.events.waiting_gangs import what_members_are_told
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.readers.objects.lookup import is_name
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests.fuzz.law import Reader
from tests.fuzz.seeds import WORLDS
from tests.twins.virtual_clock import VirtualClock

Body = dict[str, Any]
_KINDS = {(one.group, one.name): one for one in vars(known).values() if isinstance(one, Kind)}
_UNTYPED = frozenset({"sparkoperator.k8s.io", "workload.codeflare.dev", "scheduling.volcano.sh"})
"""API groups whose kinds take what a tenant writes as it is."""
_WAITS = Reason(ReasonKind.NO_FREE_CAPACITY)


def _types(value: Any, found: dict[str, set[type]], key: str = "") -> dict[str, set[type]]:
    """Key -> the types of what stands there."""
    found.setdefault(key, set()).add(type(value))
    for name, one in value.items() if isinstance(value, dict) else ():
        _types(one, found, name)
    for one in value if isinstance(value, list) else ():
        _types(one, found, f"{key}[]")
    return found


_TYPES = _types(list(WORLDS.values()), {})
_TEXTS = ("annotations", "labels", "matchLabels", "nodeSelector")


def _is_typed(value: Any, key: str = "[][]", depth: int = 64) -> bool:
    """Whether all of it is of the types that valid objects have at such keys."""
    if key in _TEXTS:
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    if not depth or (key in _TYPES and type(value) not in _TYPES[key]):
        return False
    if isinstance(value, dict):
        return all(_is_typed(one, name, depth - 1) for name, one in value.items())
    listed = value if isinstance(value, list) else []
    return all(_is_typed(one, f"{key}[]", depth - 1) for one in listed)


def _watched(data: bytes) -> Iterator[tuple[Kind, Body]]:
    """The objects of a list that an API server could have, as a watch brings them."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    items = value.get("items") if isinstance(value, dict) else None
    for number, one in enumerate(items if isinstance(items, list) else (), 1):
        body = one if isinstance(one, dict) else {}
        group = str(body.get("apiVersion", "")).rpartition("/")[0]
        kind = _KINDS.get((group, str(body.get("kind"))))
        metadata = body.get("metadata")
        if kind is None or not isinstance(metadata, dict) or not is_name(str(metadata.get("name"))):
            continue
        if not (_is_typed(metadata, "metadata") and (group in _UNTYPED or _is_typed(body))):
            continue
        # Of these the API server sees that they make sense, whatever a tenant writes.
        given = {"uid": f"uid-{number}", "resourceVersion": str(number), "namespace": "ml"}
        with suppress(ClusterError, orjson.JSONEncodeError):
            whole = {**body, "metadata": {**metadata, **given, "name": str(metadata["name"])}}
            yield kind, object_of(kind, orjson.dumps(whole))


def _cycle(data: bytes) -> tuple[str, ...]:
    """Let all of it be watched, wait and be told of, then go."""
    cache, objects = ClusterCache(VirtualClock()), list(_watched(data))
    for kind, body in objects:
        cache.on_change(kind, Put(body))
    reading = cache.reading()
    snapshot = reading.snapshot
    waiting = tuple(Waiting(one.key, _WAITS) for one in snapshot.gangs)
    plan = Plan(PlanStatus.OPTIMAL, (), waiting)
    told = after_cycle(Reported(), CycleFacts(snapshot, plan, cache.objects, reading.problems, 9.0))
    members, _ = what_members_are_told(told.reported)
    orjson.dumps([getattr(one, "status", None) for one in told.outgoing])
    for kind, body in objects:
        if kind is PODS:
            lacking(Target("ml", body["metadata"]["name"]), 9e9, cache.objects, lambda _uid: 0)
        cache.on_change(kind, Removed(body))
    cache.reading()
    return tuple(one.note for one in (*told.outgoing, *members) if isinstance(one, Event))


READERS = tuple(
    Reader(f"{name} told of", _cycle, (json.dumps({"items": world}).encode(),))
    for name, world in WORLDS.items()
)
