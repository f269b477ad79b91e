"""Pod limit: how many entries of each list and map of a pod are kept.

Each entry takes up to three hundred bytes, whatever it says: a pod of 1.1 MB took 18 MB in every
replica. What a pod holds on its node counts all the same, so of a map the names go first that say
how much it asks for, and what the scheduler wrote. Who reads the pod is told what was cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from fourleaf.k8s_bridge.cluster.entry_limit import MOST_ENTRIES, has_too_many_entries
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.config.spec import Spec
from fourleaf.model.devices.held_devices import PREFIX
from fourleaf.model.quantity import BadQuantity, in_bytes, millicores
from fourleaf.model.readers.objects.resizes import as_resized
from fourleaf.model.readers.pods.constraint_text import without_constraints
from fourleaf.model.readers.pods.kept_parts import CUT

MOST_OF_A_FIELD = 500
"""Entries of a list or a map of a pod, and its containers of a kind."""
MOST_OF_CONTAINERS = 2_000
"""Amounts, ports and rules of all containers of a kind together."""
MOST_LABELS = 5_000
"""Labels of a pod that stands: others look for it by any of them."""
MOST_NAMES = 4_000
"""Names of resources that the containers of a pod hold together, and ports of its node."""
LEFT_OUT = "left out"
"""Name of a container in place of others; no container has a space in its name, and so none has a
status that would count in place of what these ask for."""
FEW = 16
"""Owners and finalizers: one controls, and the first ones say what keeps a pod."""

_GPUS = frozenset(Spec().gpu_resources)
_FIRST = frozenset({"cpu", "memory", "ephemeral-storage", *_GPUS})
_NOTHING = re.compile(r"[0.]+([A-Za-z].*)?")
"""An amount that holds nothing: zero of whatever unit, and of however many names."""
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
    stands = isinstance(spec, dict) and bool(spec.get("nodeName"))
    if isinstance(metadata, dict):
        _cut_owners(metadata)
        _cut(metadata, ("finalizers",), FEW)
        labels = _cut(metadata, ("labels",), MOST_LABELS if stands else MOST_OF_A_FIELD)
        cut += [f"metadata.{key}" for key in (*labels, *_cut(metadata, ("annotations",)))]
    many: list[str] = []
    if isinstance(spec, dict) and (many := [*_with_many_containers(spec)]):
        # Before the status is cut, which says what more they hold.
        _merge_containers(spec, status)
    if isinstance(status, dict):
        _cut(status, _IN_STATUS)
    if isinstance(spec, dict):
        _cut(spec, ("schedulingGates",), 1)
        cut += [f"spec.{key}" for key in (*many, *_cut(spec, _IN_SPEC))]
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
        (name for name in value if not _is_nothing(str(value[name]))),
        key=_counts_last,
    )
    return {name: value[name] for name in names[:most]}


def _counts_last(name: str) -> bool:
    """Whether a name says less of what a pod holds than those that come first."""
    return name not in _FIRST and not name.startswith(PREFIX)


def _cut_owners(metadata: Body) -> None:
    owners = metadata.get("ownerReferences")
    if isinstance(owners, list) and len(owners) > FEW:
        controls = [
            one for one in owners if isinstance(one, dict) and one.get("controller") is True
        ]
        metadata["ownerReferences"] = [*controls[:1], *owners[: FEW - 1]]


def _with_many_containers(spec: Body) -> Iterator[str]:
    """The kinds of containers that are too many, or have too much together."""
    for key in ("containers", "initContainers"):
        listed = spec.get(key)
        if isinstance(listed, list) and (
            len(listed) > MOST_OF_A_FIELD or sum(map(_length, listed)) > MOST_OF_CONTAINERS
        ):
            yield key


def _merge_containers(spec: Body, status: Any) -> None:
    """Let a pod have one container, which holds all that its containers hold.

    What each of them has is nothing to others; what is not counted would be given to these.
    """
    held = as_resized(spec, status) if isinstance(status, dict) else spec
    main, init = ([*_amounts(held, key)] for key in ("containers", "initContainers"))
    nominated = status.get("nominatedNodeName") if isinstance(status, dict) else None
    # What waits is held, and takes none of what only some nodes have.
    most_names = MOST_NAMES if spec.get("nodeName") or nominated else 0
    counted = _names_that_count((asked for _, asked in (*main, *init)), most_names)
    total = _sum((asked for _, asked in main), counted)
    running, most = Counter[str](), Counter[str]()
    always = []
    for one, asked in init:
        is_sidecar = one.get("restartPolicy") == "Always"
        if is_sidecar:
            always.append(one)
        # By the names of each alone: all together would be gone through for each of thousands.
        for name, amount in _sum([asked], counted).items():
            beside = running[name] + amount
            if is_sidecar:
                running[name] = beside
            most[name] = max(most[name], beside)
    together = (total + running) | most
    ports = _host_ports([*_containers(held, "containers"), *always], spec)
    merged = _of_amounts(together) | {"ports": ports}
    spec["containers"] = [merged]
    spec.pop("initContainers", None)


def _containers(spec: Body, key: str) -> list[Body]:
    listed = spec.get(key)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _amounts(spec: Body, key: str) -> Iterator[tuple[Body, Body]]:
    """The containers of a kind, each with what it asks for."""
    for one in _containers(spec, key):
        yield one, _asked(one)


def _names_that_count(every: Iterable[Body], most: int) -> frozenset[str]:
    """Those of names of amounts that count first, and others, up to `most` together.

    Chosen before any amount is parsed: of 60,000 that takes 0.1 s.
    """
    first, others = dict[str, None](), dict[str, None]()
    for asked in every:
        for name in asked:
            if not _counts_last(name):
                first[name] = None
            elif len(others) < most:
                others[name] = None
    return frozenset([*first, *others][: max(most, MOST_OF_A_FIELD)])


def _sum(every: Iterable[Body], names: frozenset[str]) -> Counter[str]:
    """What all ask for of these names, CPU in millicores and all else in units or bytes."""
    found: Counter[str] = Counter()
    for asked in every:
        for name in asked if len(asked) <= len(names) else names & asked.keys():
            if name in names:
                with suppress(BadQuantity):
                    amount = asked[name]
                    found[name] += millicores(amount) if name == "cpu" else in_bytes(amount)
    return found


def _host_ports(containers: Iterable[Body], spec: Body) -> list[Body]:
    """The ports of the node that they have, each once."""
    key = "containerPort" if spec.get("hostNetwork") is True else "hostPort"
    found: dict[tuple[object, object], None] = {}
    for one in containers:
        for port in _containers(one, "ports"):
            number, protocol = port.get("hostPort") or port.get(key), port.get("protocol")
            if isinstance(number, int) and number and isinstance(protocol, str | None):
                found[number, protocol] = None
    few = list(found)[:MOST_NAMES]
    return [
        {"hostPort": number} | ({} if protocol is None else {"protocol": protocol})
        for number, protocol in few
    ]


def _of_amounts(asked: Mapping[str, int]) -> Body:
    """One container that asks for so much."""
    amounts = {name: f"{sum_}m" if name == "cpu" else str(sum_) for name, sum_ in asked.items()}
    return {"name": LEFT_OUT, "resources": {"requests": amounts}}


def _asked(container: Body) -> Body:
    """What a container asks for, limits where it says no more, and nothing that is zero."""
    resources = container.get("resources")
    found: Body = {}
    if isinstance(resources, dict):
        for amounts in (resources.get("limits"), resources.get("requests")):
            found |= amounts if isinstance(amounts, dict) else {}
    return {name: said for name, said in found.items() if not _is_nothing(str(said))}


def _is_nothing(said: str) -> bool:
    # By its first letter nearly all are known without the pattern, which takes ten times as long.
    return said[:1] in ("0", ".") and _NOTHING.fullmatch(said) is not None


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
