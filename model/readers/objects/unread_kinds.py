"""Objects of kinds that are not read, whose pods a scheduler of ours would have to place."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from fourleaf.model.readers.objects.manifest import Body, part_of
from fourleaf.model.readers.objects.owners import OwnerRef
from fourleaf.model.readers.objects.report import Report

MOST_LOOKED_AT = 2000
"""Objects and lists in one spec that are searched; that of a PyTorchJob has some dozens."""
_KEY = "schedulerName"


@dataclass(frozen=True, slots=True)
class Stranger:
    """An object of an unknown kind, and the scheduler that it names at `field`."""

    source: str
    ref: OwnerRef
    namespace: str
    field: str
    scheduler: str


def strangers_in(
    source: str, group: str, kind: str, namespace: object, body: Body
) -> Iterable[Stranger]:
    """`body` once for each scheduler that its spec names, however deep."""
    name = part_of(body, "metadata").get("name")
    ref = OwnerRef(group, kind, name if isinstance(name, str) else "?")
    space = namespace if isinstance(namespace, str) else "?"
    return [
        Stranger(source, ref, space, field, scheduler)
        for scheduler, field in _schedulers(body.get("spec")).items()
    ]


def _schedulers(spec: object) -> dict[str, str]:
    """Scheduler -> the first field that names it, the shallow ones first."""
    found: dict[str, str] = {}
    left: deque[tuple[str, Any]] = deque([("spec", spec)])
    for _ in range(MOST_LOOKED_AT):
        if not left:
            break
        path, value = left.popleft()
        if isinstance(value, list):
            left.extend((f"{path}[{i}]", one) for i, one in enumerate(value[:MOST_LOOKED_AT]))
        elif isinstance(value, dict):
            named = value.get(_KEY)
            if isinstance(named, str):
                found.setdefault(named, f"{path}.{_KEY}")
            left.extend(
                (f"{path}.{key}", one) for key, one in value.items() if isinstance(one, dict | list)
            )
    return found


def warn_of(
    strangers: Iterable[Stranger],
    schedulers: Collection[str],
    known: Collection[tuple[str, OwnerRef]],
    report: Report,
) -> None:
    """Say which of `strangers` name one of `schedulers`, though their pods are never planned.

    `known` are the namespaces and owners of the pods that are there: those are planned.
    """
    for one in strangers:
        if one.scheduler in schedulers and (one.namespace, one.ref) not in known:
            report.warn(
                one.source,
                f"{one.ref.kind} {one.namespace}/{one.ref.name}",
                one.field,
                one.scheduler,
                "is in an object that does not say which pods it makes, so they are not planned",
                "Give the pods, or the Job, JobSet or RayCluster, that it makes.",
            )
