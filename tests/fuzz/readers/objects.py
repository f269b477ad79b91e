"""Objects of a cluster: read at once, and as they come from the API one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import orjson

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.slim import object_of
from fourleaf.model.problems import Problem
from fourleaf.model.readers import Source, read
from fourleaf.model.readers.live import LiveReader
from fourleaf.simulator.recording.look import look_at
from tests.fuzz.law import Reader
from tests.fuzz.seeds import WORLDS

NOW = 1_800_000_000.0
_WITHOUT_PODS = {("", "Node"), ("scheduling.k8s.io", "PodGroup"), ("gpu.scheduling", "GpuClaim")}


def at_once(data: bytes) -> tuple[Problem, ...]:
    """What `fourleaf plan -f` tells of a file, down to the gangs that stand, and `record` notes."""
    reading = read([Source("in.json", data)], NOW, strict=False)
    standing = reading.standing((), True)
    look_at(reading.snapshot, standing)
    reading.eviction_limits(tuple(reading.pods))
    return reading.problems


def one_by_one(data: bytes) -> Iterable[Problem]:
    """What the scheduler knows once objects have come, slim, and once each has changed and gone."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return ()
    items = value.get("items") if isinstance(value, dict) else None
    reader, known = LiveReader(), []
    for one in items if isinstance(items, list) else ():
        with suppress(ClusterError, orjson.JSONEncodeError):
            kind = _kind_of(one if isinstance(one, dict) else {})
            known.append((kind, object_of(kind, orjson.dumps(one))))
    for kind, body in known:
        reader.put(kind.group, kind.name, body)
    problems = reader.reading(NOW).problems
    reader.standing(NOW, (), True)
    for kind, body in known:
        reader.put(kind.group, kind.name, {**body, "status": {}})
    reader.reading(NOW)
    for kind, body in known:
        metadata = body.get("metadata")
        if isinstance(metadata, dict):
            space, name = metadata.get("namespace", ""), metadata.get("name")
            if isinstance(name, str) and isinstance(space, str):
                reader.remove(kind.group, kind.name, space, name)
    reader.reading(NOW)
    return problems


def _kind_of(body: Mapping[str, Any]) -> Kind:
    group, _, version = str(body.get("apiVersion", "")).rpartition("/")
    name = str(body.get("kind"))
    if (group, name) == ("", "Pod"):
        return PODS
    made = (group, name) not in _WITHOUT_PODS
    return Kind(group, version, f"{name.lower()}s", name, makes_pods=made)


def _listed(bodies: list[dict[str, Any]]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies}).encode()


READERS = (
    *(Reader(f"{name} at once", at_once, (_listed(one),)) for name, one in WORLDS.items()),
    *(Reader(f"{name} one by one", one_by_one, (_listed(one),)) for name, one in WORLDS.items()),
)
