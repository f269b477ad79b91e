"""Pod limit: how many entries of each list and map of a pod are kept.

Each entry takes up to three hundred bytes, whatever it says: a pod of 1.1 MB took 18 MB in every
replica. What a pod holds on its node counts all the same, so of a map the names go first that say
how much it asks for, and what the scheduler wrote. Who reads the pod is told what was cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fourleaf.k8s_bridge.cluster.entry_limit import MOST_ENTRIES, has_too_many_entries
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.config.spec import Spec
from fourleaf.model.devices.held_devices import PREFIX
from fourleaf.model.readers.pods.constraint_text import without_constraints
from fourleaf.model.readers.pods.kept_parts import CUT

MOST_OF_A_FIELD = 500
"""Entries of a list or a map of a pod, and its containers of a kind."""
MOST_OF_CONTAINERS = 2_000
"""Amounts, ports and rules of all containers of a kind together."""
LEAST_OF_A_CONTAINER = 8
"""Amounts, and ports, that are kept of each container of however many."""
FEW = 16
"""Owners and finalizers: one controls, and the first ones say what keeps a pod."""

_GPUS = frozenset(Spec().gpu_resources)
_FIRST = frozenset({"cpu", "memory", "ephemeral-storage", *_GPUS})
_IN_METADATA = ("labels", "annotations")
_IN_SPEC = ("overhead", "resourceClaims", "volumes")
_IN_STATUS = (
    "conditions",
    "containerStatuses",
    "initContainerStatuses",
    "resourceClaimStatuses",
)
_LISTED_TERMS = ("nodeSelector", "tolerations", "topologySpreadConstraints")
_NESTED_TERMS = ("affinity", "topologySpreadConstraints")
_OF_CONTAINER = ("ports", "restartPolicyRules")
_OF_RESOURCES = ("requests", "limits", "claims")


def cut_parts(pod: Body) -> None:
    """Keep the first entries of what is too long in a pod; its spec names what is missing then.

    Nothing is named where that decides nothing: one gate holds a pod like many.
    """
    cut = []
    metadata, spec, status = (pod.get(part) for part in ("metadata", "spec", "status"))
    if isinstance(metadata, dict):
        _cut_owners(metadata)
        _cut(metadata, ("finalizers",), FEW)
        cut += [f"metadata.{key}" for key in _cut(metadata, _IN_METADATA)]
    if isinstance(status, dict):
        _cut(status, _IN_STATUS)
    if isinstance(spec, dict):
        _cut(spec, ("schedulingGates",), 1)
        cut += [f"spec.{key}" for key in (*_cut_containers(spec), *_cut(spec, _IN_SPEC))]
        if _lengths(spec.get("resources"), _OF_RESOURCES) > MOST_OF_A_FIELD:
            spec["resources"] = _with_few(spec["resources"], MOST_OF_A_FIELD)
            cut.append("spec.resources")
        cut += [f"spec.{key}" for key in _cut_constraints(spec)]
        if cut:
            spec[CUT] = cut[0]


def _cut(body: Body, keys: tuple[str, ...], most: int = MOST_OF_A_FIELD) -> list[str]:
    """Those of `keys` that had more than `most` entries in `body`, which has as many then."""
    long = _long(body, keys, most)
    for key in long:
        body[key] = _first(body[key], most)
    return long


def _long(body: Body, keys: tuple[str, ...], most: int) -> list[str]:
    found = []
    for key in keys:
        value = body.get(key)
        if value and isinstance(value, dict | list) and len(value) > most:
            found.append(key)
    return found


def _first(value: Any, most: int) -> Any:
    """The first entries of a list; of a map those that count first."""
    if isinstance(value, list):
        return value[:most]
    names = sorted(value, key=lambda name: name not in _FIRST and not name.startswith(PREFIX))
    return {name: value[name] for name in names[:most]}


def _cut_owners(metadata: Body) -> None:
    owners = metadata.get("ownerReferences")
    if isinstance(owners, list) and len(owners) > FEW:
        controls = [
            one for one in owners if isinstance(one, dict) and one.get("controller") is True
        ]
        metadata["ownerReferences"] = [*controls[:1], *owners[: FEW - 1]]


def _cut_containers(spec: Body) -> Iterator[str]:
    for key in ("containers", "initContainers"):
        listed = spec.get(key)
        if not isinstance(listed, list):
            continue
        inner = sum(map(_length, listed))
        if len(listed) > MOST_OF_A_FIELD or inner > MOST_OF_CONTAINERS:
            # Devices that were not counted would be given to others as well.
            kept = sorted(listed, key=_rank)[:MOST_OF_A_FIELD]
            each = max(LEAST_OF_A_CONTAINER, MOST_OF_CONTAINERS // len(kept) // 4)
            spec[key] = [_with_few_parts(one, each) for one in kept]
            yield key


def _rank(container: Any) -> int:
    """0 for a container that asks for GPUs, 1 for one with another extended resource, else 2."""
    resources = container.get("resources") if isinstance(container, dict) else None
    asked = resources if isinstance(resources, dict) else {}
    amounts = (asked.get(key) for key in ("requests", "limits"))
    names = [name for one in amounts if isinstance(one, dict) for name in one]
    if not _GPUS.isdisjoint(names):
        return 0
    return 1 if any("/" in name for name in names) else 2


def _length(container: Any) -> int:
    """Entries of the lists and maps of a container."""
    if not isinstance(container, dict):
        return 0
    return _lengths(container, _OF_CONTAINER) + _lengths(container.get("resources"), _OF_RESOURCES)


def _lengths(body: Any, keys: tuple[str, ...]) -> int:
    found = 0
    if isinstance(body, dict):
        for key in keys:
            value = body.get(key)
            if value and isinstance(value, dict | list):
                found += len(value)
    return found


def _with_few_parts(container: Any, most: int) -> Any:
    if not isinstance(container, dict):
        return container
    kept = container.copy()
    _cut(kept, _OF_CONTAINER, most)
    if "resources" in kept:
        kept["resources"] = _with_few(kept["resources"], most)
    return kept


def _with_few(resources: Any, most: int) -> Any:
    if not isinstance(resources, dict):
        return resources
    kept = resources.copy()
    _cut(kept, _OF_RESOURCES, most)
    return kept


def _cut_constraints(spec: Body) -> list[str]:
    """Take all constraints out where one is too long: part of them would say something else.

    Of a pod that stands on a node, others keep away; so what is of any length in use is kept.
    """
    long = _long(spec, _LISTED_TERMS, MOST_OF_A_FIELD)
    stands = bool(spec.get("nodeName"))
    if stands and not long:
        there = [spec[key] for key in _NESTED_TERMS if spec.get(key)]
        long = ["affinity"] if there and has_too_many_entries(there, MOST_ENTRIES) else []
    if long:
        without_constraints(spec)
    return long
