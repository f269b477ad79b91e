"""Objects of lists and watches, from JSON: what is read, and equal parts once.

A full pod has 9 KiB of JSON, of which a scheduler needs one. Slim objects are to be read and
not to be changed: equal parts of them are one object. Nor can one be written back whole.
They carry no apiVersion, kind and managedFields; pods and nodes what `shapes` names; what
makes pods has slim pod specs in its templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from fourleaf.k8s_bridge.cluster import shapes
from fourleaf.k8s_bridge.cluster.entry_limit import (
    MOST_ENTRIES,
    drop_most_entries,
    has_too_many_entries,
)
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import (
    COSCHEDULING_POD_GROUPS,
    DISRUPTION_BUDGETS,
    GPU_CLAIMS,
    NODES,
    PODS,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    VOLCANO_POD_GROUPS,
    VOLUME_CLAIMS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.page_slices import PageSlices
from fourleaf.k8s_bridge.cluster.parse_limit import (
    MOST_MARKS,
    MOST_MARKS_TOO_DEEP,
    is_beyond_parsing,
    metadata_alone,
    parsed,
)
from fourleaf.k8s_bridge.cluster.pod_limit import cut_parts
from fourleaf.k8s_bridge.cluster.protocol import Body, WatchEvent
from fourleaf.k8s_bridge.cluster.shared_parts import SharedParts
from fourleaf.model.devices.visibility import ENTRY, is_told
from fourleaf.model.problems import brief
from fourleaf.model.readers.objects.inline_disks import KEPT_OF_DISKS
from fourleaf.model.readers.pods.constraint_text import is_too_long, without_constraints
from fourleaf.model.readers.text.sources import without_collection

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_EVENT = re.compile(rb'\{"type":"([A-Z]+)","object":')

MOST_LEVELS = 48
"""Levels of an owner that are kept: templates lie less deep, and nothing that is compared later may
reach the limit of recursion."""

MOST_TRIMMED = 2 * MOST_ENTRIES
"""Entries of an object of which a part may be left when what is never read has gone."""

_WITH_ANY_CONTENT = frozenset({RESOURCE_CLAIMS, VOLCANO_POD_GROUPS, COSCHEDULING_POD_GROUPS})
"""Kinds of tenants that may hold what their schema does not name."""
_OF_TENANTS = _WITH_ANY_CONTENT | {VOLUME_CLAIMS, DISRUPTION_BUDGETS, GPU_CLAIMS}
_OBJECTS: dict[Kind, Any] = {
    PODS: shapes.PodShape,
    NODES: shapes.NodeShape,
}
_PAGES: dict[Kind, Any] = {
    PODS: shapes.PodPage,
    NODES: shapes.NodePage,
}
_EVENTS: dict[Kind, Any] = {
    PODS: shapes.PodEvent,
    NODES: shapes.NodeEvent,
}
_SHARED = SharedParts()
_TEMPLATE_CONTAINER = tuple(one for one in shapes.ContainerShape.__annotations__ if one != "env")
_POD_SPEC = tuple(shapes.PodSpec.__annotations__)


@dataclass(frozen=True, slots=True)
class ListPage:
    """A part of a list: its objects, the version of the whole, and where it goes on, or ""."""

    items: list[Body]
    version: str
    token: str


def object_of(kind: Kind, content: bytes) -> Body:
    """The object in `content`. Raises `ClusterError` where it is none."""
    if (alone := _alone(kind, content)) is not None:
        return trimmed(kind, alone)
    try:
        return trimmed(kind, _read(_OBJECTS, kind, content, _most_too_deep(kind)))
    except ClusterError:
        if (alone := _alone(kind, content, most=MOST_MARKS_TOO_DEEP)) is None:
            raise
        return trimmed(kind, alone)


def page_of(kind: Kind, content: bytes) -> ListPage:
    """The part of a list in `content`. Raises `ClusterError` where it is none."""
    page, slices = sliced_page(kind, content)
    for some in slices:
        page.items.extend(some)
    return page


def sliced_page(kind: Kind, content: bytes) -> tuple[ListPage, Iterator[list[Body]]]:
    """The part of a list in `content`, without its objects, and these in slices.

    Each slice is read when it is asked for, so that others may have their turn before. Raises
    `ClusterError`, as the slices do, where it is none.
    """
    sliced = PageSlices.of(content)
    with without_collection():
        body = _read(_PAGES, kind, sliced.around if sliced else content)
    items = _objects_in(kind, body.get("items") or [])
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    version, token = str(metadata.get("resourceVersion", "")), metadata.get("continue") or ""
    return ListPage([], version, token), _slices(kind, sliced, items)


def _slices(kind: Kind, sliced: PageSlices | None, items: list[Body]) -> Iterator[list[Body]]:
    if sliced is None:
        with without_collection():
            some = [trimmed(kind, item) for item in items]
        yield some
        return
    for texts in sliced.slices():
        with without_collection():
            some = [body for text in texts for body in _objects_of(kind, text)]
        yield some


def _objects_of(kind: Kind, text: bytes) -> list[Body]:
    """The object in `text`; several where one begins otherwise than the first of its page."""
    try:
        return [object_of(kind, text)]
    except ClusterError:
        try:
            bodies = orjson.loads(b"[%b]" % text)
        except orjson.JSONDecodeError:
            bodies = []
        if len(bodies) < 2:
            raise
        return [trimmed(kind, body) for body in bodies]


def event_of(kind: Kind, line: bytes) -> WatchEvent:
    """The line of a watch; of type `ERROR` with a whole Status. Raises `ClusterError`."""
    if (alone := _event_alone(kind, line)) is not None:
        return alone
    try:
        with without_collection():
            return _event_of(kind, line)
    except ClusterError:
        if (alone := _event_alone(kind, line, MOST_MARKS_TOO_DEEP)) is None:
            raise
        return alone


def _event_of(kind: Kind, line: bytes) -> WatchEvent:
    if b'"ERROR"' in line:
        # A Status is no object of the kind, and its `status` is a word.
        body = _read({}, kind, line, _most_too_deep(kind))
        if body.get("type") == "ERROR":
            return WatchEvent("ERROR", *_objects_in(kind, [body.get("object")]))
    body = _read(_EVENTS, kind, line, _most_too_deep(kind))
    (about,) = _objects_in(kind, [body.get("object")])
    return WatchEvent(str(body.get("type")), trimmed(kind, about))


def _event_alone(kind: Kind, line: bytes, most: int = MOST_MARKS) -> WatchEvent | None:
    """What of an event is kept whose object is beyond parsing; None where it is not."""
    head = _EVENT.match(line)
    alone = _alone(kind, line, head.end(), most) if head else None
    return WatchEvent(head[1].decode(), trimmed(kind, alone)) if head and alone else None


def _alone(kind: Kind, content: bytes, start: int = 0, most: int = MOST_MARKS) -> Body | None:
    """What of an object is kept that is beyond parsing; None where it is not."""
    if _is_bounded(kind) and is_beyond_parsing(content, most):
        return metadata_alone(content, start)
    return None


def _most_too_deep(kind: Kind) -> int | None:
    return MOST_MARKS_TOO_DEEP if _is_bounded(kind) else None


def _is_bounded(kind: Kind) -> bool:
    return kind.makes_pods or kind in _OF_TENANTS


def _objects_in(kind: Kind, items: Any) -> list[Body]:
    if isinstance(items, list) and all(isinstance(one, dict) for one in items):
        return items
    raise ClusterError(f"{kind.plural}: the answer holds something that is no object")


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    """Made where it is first used: each takes a while, and commands use few."""
    return TypeAdapter(shape)


def _read(
    known: dict[Kind, Any], kind: Kind, content: bytes, most_marks: int | None = None
) -> Body:
    shape = known.get(kind)
    try:
        if shape is None:
            body = parsed(content, most_marks)
        else:
            body = _adapter(shape).validate_json(content)
    except (orjson.JSONDecodeError, ValidationError) as error:
        said = brief(" ".join(str(error).split()))
        raise ClusterError(f"{kind.plural}: the answer is not what the API says: {said}") from error
    if not isinstance(body, dict):
        raise ClusterError(f"{kind.plural}: the answer is not an object")
    return body


def trimmed(kind: Kind, body: Body) -> Body:
    """`body`, which is changed, without what is never read and with equal parts shared."""
    body.pop("apiVersion", None)
    body.pop("kind", None)
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    is_bounded = _is_bounded(kind)
    if is_bounded and has_too_many_entries(body, MOST_TRIMMED):
        # What is dropped costs no more than to be counted.
        drop_most_entries(body)
    if kind == PODS:
        _trim_metadata(metadata)
        _share_spec(body.get("spec"))
        _drop_settled(body.get("spec"), body.get("status"))
        _share_conditions(body.get("status"))
        cut_parts(body)
    elif kind == NODES:
        _trim_metadata(metadata)
        status = body.get("status")
        _share(body.get("spec"), ("taints",))
        _share(status, ("allocatable", "capacity", "daemonEndpoints", "declaredFeatures"))
        _share_conditions(status)
    elif kind == RESOURCE_SLICES:
        _share_devices(body.get("spec"))
    elif kind.makes_pods or kind in _WITH_ANY_CONTENT:
        _trim_metadata(metadata)
        for key in ("spec", "status"):
            if key in body:
                body[key] = _templates(body[key], MOST_LEVELS)
    if is_bounded and has_too_many_entries(body):
        drop_most_entries(body)
    return body


def _trim_metadata(metadata: Any) -> None:
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(annotations, dict):
        annotations.pop(LAST_APPLIED, None)
    _share(metadata, ("ownerReferences",))


def _templates(value: Any, levels: int) -> Any:
    """`value` with every pod spec in it made slim, and without what lies deeper than `levels`."""
    if not isinstance(value, list | dict):
        return value
    if not levels:
        return None
    if isinstance(value, list):
        return [_templates(one, levels - 1) for one in value]
    if not isinstance(value.get("containers"), list):
        return {key: _templates(one, levels - 1) for key, one in value.items()}
    spec = _some(value, _POD_SPEC)
    for key in ("containers", "initContainers"):
        if isinstance(spec.get(key), list):
            spec[key] = [_some(one, _TEMPLATE_CONTAINER) for one in spec[key]]
    spec = {key: _templates(one, levels - 1) for key, one in spec.items()}
    _share_spec(spec)
    return spec


def _some(value: Any, keys: tuple[str, ...]) -> Any:
    return {k: value[k] for k in keys if k in value} if isinstance(value, dict) else value


def _share_spec(spec: Any) -> None:
    if not isinstance(spec, dict):
        return
    if is_too_long(spec):
        without_constraints(spec)
    volumes = spec.pop("volumes", None)
    listed = volumes if isinstance(volumes, list) else ()
    tied = [_with_little_of_a_disk(v) for v in listed if _is_tied(v)]
    if tied:
        spec["volumes"] = tied
    for key in ("containers", "initContainers"):
        if isinstance(spec.get(key), list):
            spec[key] = [_with_little_env(one) for one in spec[key]]
    for key, value in spec.items():
        if isinstance(value, dict | list):
            spec[key] = _SHARED.of(value)


_TYING = frozenset({"persistentVolumeClaim", "ephemeral", *KEPT_OF_DISKS})


def _is_tied(volume: Any) -> bool:
    """Whether a volume may tie its pod to some nodes; what is none is for the readers to refuse."""
    if not isinstance(volume, dict):
        return True
    return not _TYING.isdisjoint(volume)


def _with_little_of_a_disk(volume: Any) -> Any:
    """`volume` with what says which disk it is, where it is one, and whether it is written to."""
    if not isinstance(volume, dict):
        return volume
    kept = {
        key: _some(value, KEPT_OF_DISKS[key]) if key in KEPT_OF_DISKS else value
        for key, value in volume.items()
    }
    # The claim that is made of a template has all that the template says.
    return kept | {"ephemeral": {"volumeClaimTemplate": {}}} if kept.get("ephemeral") else kept


def _with_little_env(container: Any) -> Any:
    """`container` without its environment but for how it is told its devices, where it is."""
    if not isinstance(container, dict) or "env" not in container:
        return container
    kept = {key: value for key, value in container.items() if key != "env"}
    return {**kept, "env": [ENTRY]} if is_told(container) else kept


def _drop_settled(spec: Any, status: Any) -> None:
    """Drop what is held where it is what the spec says: no resize is on its way."""
    if not isinstance(status, dict):
        return
    if ("resources" in status or "allocatedResources" in status) and _is_settled(
        status, _requests_of(spec) if isinstance(spec, dict) else None
    ):
        status.pop("resources", None)
        status.pop("allocatedResources", None)
    for key, statuses in (
        ("containers", "containerStatuses"),
        ("initContainers", "initContainerStatuses"),
    ):
        held = status.get(statuses)
        if held is None:
            continue
        listed = (spec.get(key) if isinstance(spec, dict) else None) or ()
        asked = {str(one.get("name")): _requests_of(one) for one in listed}
        if all(_is_settled(one, asked.get(str(one.get("name")))) for one in held):
            del status[statuses]


def _requests_of(container: Any) -> Any:
    resources = container.get("resources")
    return resources.get("requests") if isinstance(resources, dict) else None


def _is_settled(held: Any, asked: Any) -> bool:
    """Whether a container, or a pod, holds what it asks for, as far as its kubelet says."""
    said = held.get("allocatedResources"), _requests_of(held)
    return all(one is None or one == (asked or {}) for one in said)


def _share_conditions(status: Any) -> None:
    conditions = status.get("conditions") if isinstance(status, dict) else None
    if isinstance(conditions, list):
        status["conditions"] = [_SHARED.of(one) for one in conditions]


def _share_devices(spec: Any) -> None:
    """Share what the devices of a fleet have in common: most values of most attributes."""
    devices = spec.get("devices") if isinstance(spec, dict) else None
    for device in devices if isinstance(devices, list) else ():
        _share(device, ("capacity", "taints"))
        attributes = device.get("attributes") if isinstance(device, dict) else None
        if isinstance(attributes, dict):
            _share(attributes, tuple(attributes))


def _share(body: Any, keys: tuple[str, ...]) -> None:
    for key in keys:
        if isinstance(body, dict) and key in body:
            body[key] = _SHARED.of(body[key])
