"""Pod limit: how many entries of each list and map of a pod are kept.

Each entry takes up to three hundred bytes, whatever it says: a pod of 1.1 MB took 18 MB in every
replica. What a pod holds on its node counts all the same, so of a map the names go first that say
how much it asks for, and what the scheduler wrote. Who reads the pod is told what was cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from fourleaf.k8s_bridge.cluster.entry_limit import MOST_ENTRIES, has_too_many_entries
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.config.spec import Spec
from fourleaf.model.devices.held_devices import PREFIX
from fourleaf.model.quantity import BadQuantity, in_bytes, millicores
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
_NOTHING = re.compile(r"[0.]+([A-Za-z].*)?")
"""An amount that holds nothing: zero of whatever unit, and of however many names."""
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
    """The first entries of a list; of a map those that count first, and none that is nothing."""
    if isinstance(value, list):
        return value[:most]
    names = sorted(
        (name for name in value if not _NOTHING.fullmatch(str(value[name]))),
        key=lambda name: name not in _FIRST and not name.startswith(PREFIX),
    )
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
            # What was not counted would be given to others as well.
            kept, left_out = listed[:MOST_OF_A_FIELD], listed[MOST_OF_A_FIELD:]
            each = max(LEAST_OF_A_CONTAINER, MOST_OF_CONTAINERS // len(kept) // 4)
            spec[key] = [_with_few_parts(one, each) for one in kept]
            if left_out:
                spec[key].append(_together(left_out))
            yield key


def _together(containers: Iterable[Any]) -> Body:
    """One container that asks for all that these do, and has all of their ports on the host."""
    asked: Counter[str] = Counter()
    ports: list[Any] = []
    for one in containers:
        if not isinstance(one, dict):
            continue
        for name, amount in _asked(one).items():
            if name in asked or name in _FIRST or len(asked) < MOST_OF_A_FIELD:
                with suppress(BadQuantity):
                    asked[name] += millicores(amount) if name == "cpu" else in_bytes(amount)
        listed = one.get("ports")
        said = listed if isinstance(listed, list) else []
        ports += [port for port in said if isinstance(port, dict) and port.get("hostPort")]
    amounts = {name: f"{sum_}m" if name == "cpu" else str(sum_) for name, sum_ in asked.items()}
    together: Body = {"name": "left-out", "resources": {"requests": amounts}}
    # Beside all others: of those that end before the next one begins, that is too much, not less.
    return together | {"restartPolicy": "Always", "ports": ports[:MOST_OF_CONTAINERS]}


def _asked(container: Body) -> Body:
    """What a container asks for, limits where it says no more, and nothing that is zero."""
    resources = container.get("resources")
    found: Body = {}
    if isinstance(resources, dict):
        for amounts in (resources.get("limits"), resources.get("requests")):
            found |= amounts if isinstance(amounts, dict) else {}
    return {name: said for name, said in found.items() if not _NOTHING.fullmatch(str(said))}


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
