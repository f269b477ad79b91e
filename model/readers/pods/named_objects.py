"""What a pod that waits may name: amounts are held against all nodes, objects are looked up."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from fourleaf.model.readers.objects.inline_disks import KEPT_OF_DISKS
from fourleaf.model.readers.objects.manifest import Body

MOST_DISKS = 32
"""Disks that a waiting pod names in its own volumes: no node attaches many more."""
MOST_HOST_PORTS = 64
"""Ports of its node that a waiting pod asks for."""
MOST_RESOURCES = 64
"""Different resources that the containers of a waiting pod ask for."""
MOST_CLAIMS = 32
"""ResourceClaims that a waiting pod names."""
MOST_VOLUME_CLAIMS = 64
"""PersistentVolumeClaims that a waiting pod names, and its ephemeral volumes together."""
MOST_WRITTEN_CONDITIONS = 150
"""Conditions on nodes that a waiting pod has, required and preferred: more are not decoded."""
MOST_VALUES = 2_000
"""Values of these conditions together."""
MOST_SELECTOR_ENTRIES = 256
"""Labels and expressions of all selectors of pods that a waiting pod has: of required and preferred
affinity, anti-affinity and spread together. Each is looked at beside pods that run, which takes
60 ns; 32 terms, which are all that may be, have eight each."""
_MATCHES = ("matchExpressions", "matchFields")
_SELECTORS = ("labelSelector", "namespaceSelector")
_LABEL_KEYS = ("matchLabelKeys", "mismatchLabelKeys")
_POD_AFFINITIES = ("podAffinity", "podAntiAffinity")
_CLAIMED = ("persistentVolumeClaim", "ephemeral")


def too_many_objects(spec: Body) -> str:
    """Of which objects a pod that waits names too many, "" where of none."""
    claims, volumes = (spec.get(key) for key in ("resourceClaims", "volumes"))
    if isinstance(claims, list) and len(claims) > MOST_CLAIMS:
        return f"spec.resourceClaims, with more than {MOST_CLAIMS} claims,"
    if _having(volumes, _CLAIMED) > MOST_VOLUME_CLAIMS:
        return f"spec.volumes, with more than {MOST_VOLUME_CLAIMS} PersistentVolumeClaims,"
    return ""


def too_many_amounts(spec: Body) -> str:
    """Of what a pod that waits asks a node for too many amounts, "" where it does not."""
    if _having(spec.get("volumes"), KEPT_OF_DISKS) > MOST_DISKS:
        return f"spec.volumes, with more than {MOST_DISKS} disks that the pod itself names,"
    containers = [*_dicts(spec.get("containers")), *_dicts(spec.get("initContainers"))]
    key = "containerPort" if spec.get("hostNetwork") is True else "hostPort"
    ports = (port for one in containers for port in _dicts(one.get("ports")))
    if sum(bool(port.get("hostPort") or port.get(key)) for port in ports) > MOST_HOST_PORTS:
        return f"spec.containers[*].ports, with more than {MOST_HOST_PORTS} ports of the node,"
    if len({name for one in containers for name in _resources(one)}) > MOST_RESOURCES:
        return f"spec.containers[*].resources, with more than {MOST_RESOURCES} names of resources,"
    return ""


def too_many_conditions(spec: Body) -> str:
    """Of which conditions on nodes a pod that waits has too many to decode, "" where of none."""
    affinity = spec.get("affinity")
    part = affinity.get("nodeAffinity") if isinstance(affinity, dict) else None
    conditions = _conditions(part) if isinstance(part, dict) else []
    if len(conditions) > MOST_WRITTEN_CONDITIONS:
        what = f"more than {MOST_WRITTEN_CONDITIONS} conditions, required or preferred,"
        return f"spec.affinity.nodeAffinity, with {what}"
    values = (one["values"] for one in conditions if isinstance(one.get("values"), list))
    if sum(map(len, values)) > MOST_VALUES:
        return f"spec.affinity.nodeAffinity, with more than {MOST_VALUES:,} values,"
    return ""


def too_many_selector_entries(spec: Body) -> str:
    """Of what selectors of pods a pod that waits has too much, "" where of nothing."""
    terms = _pod_terms(spec)
    selectors = [one for term in terms for key in _SELECTORS for one in _dicts([term.get(key)])]
    expressions = [one for some in selectors for one in _dicts(some.get("matchExpressions"))]
    parts: list[object] = [some.get("matchLabels") for some in selectors]
    parts += [term.get(key) for term in terms for key in _LABEL_KEYS]
    where = "spec, whose terms about other pods have more than"
    if len(expressions) + sum(map(_length, parts)) > MOST_SELECTOR_ENTRIES:
        return f"{where} {MOST_SELECTOR_ENTRIES} labels and expressions,"
    if sum(_length(one.get("values")) for one in expressions) > MOST_VALUES:
        return f"{where} {MOST_VALUES:,} values,"
    return ""


def _pod_terms(spec: Body) -> list[Body]:
    """Terms about other pods, and spread constraints, which have the same selectors."""
    found = _dicts(spec.get("topologySpreadConstraints"))
    affinities = _dicts([spec.get("affinity")])
    for part in _dicts([one.get(kind) for one in affinities for kind in _POD_AFFINITIES]):
        for term in (one for listed in part.values() for one in _dicts(listed)):
            found += (term, *_dicts([term.get("podAffinityTerm")]))
    return found


def _length(value: object) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _conditions(node_affinity: Body) -> list[Body]:
    """Those of what is required, which has terms, and of what is preferred, which is a list."""
    parts = node_affinity.values()
    required = [part.get("nodeSelectorTerms") for part in parts if isinstance(part, dict)]
    preferred = [one.get("preference") for part in parts for one in _dicts(part)]
    terms = [term for listed in (*required, preferred) for term in _dicts(listed)]
    return [one for term in terms for key in _MATCHES for one in _dicts(term.get(key))]


def _having(volumes: object, sources: Collection[str]) -> int:
    """How many volumes have one of these sources."""
    if not isinstance(volumes, list) or len(volumes) <= min(MOST_DISKS, MOST_VOLUME_CLAIMS):
        return 0
    return sum(not volume.keys().isdisjoint(sources) for volume in _dicts(volumes))


def _resources(container: Body) -> Iterator[str]:
    asked = container.get("resources")
    for amounts in asked.values() if isinstance(asked, dict) else ():
        yield from amounts if isinstance(amounts, dict) else ()


def _dicts(listed: object) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
