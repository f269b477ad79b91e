"""How many pods of each PodGroup there are, and how far they have got."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.readers.gangs.dialects import COSCHEDULING_LABELS, VOLCANO_GROUP, Dialect

GroupName = tuple[Dialect, str, str]
"""Dialect, namespace and name of a PodGroup."""


@dataclass(slots=True)
class Tally:
    """Pods of one group. `bound` are on a node and not finished; `running` are among them."""

    pods: int = 0
    bound: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    ours: bool = False

    @property
    def started(self) -> int:
        """Members that run or have run to their end."""
        return self.running + self.succeeded

    @property
    def seated(self) -> int:
        """Members that have got their node, finished ones included."""
        return self.bound + self.succeeded


def tallies(
    pods: Iterable[Body], dialects: Collection[Dialect], schedulers: Collection[str]
) -> Mapping[GroupName, Tally]:
    """The tally of every group of `dialects` that has pods."""
    found: dict[GroupName, Tally] = {}
    if dialects:
        for pod in pods:
            name = group_of(pod)
            if name is not None and name[0] in dialects:
                _count(found.setdefault(name, Tally()), pod, schedulers)
    return found


def group_of(pod: Body) -> GroupName | None:
    """The group that `pod` names, if any."""
    metadata = pod["metadata"]
    namespace = metadata.get("namespace", "")
    group = (pod.get("spec") or {}).get("schedulingGroup") or {}
    if group.get("podGroupName"):
        return Dialect.NATIVE, namespace, group["podGroupName"]
    labels = metadata.get("labels") or {}
    for label in COSCHEDULING_LABELS:
        if labels.get(label):
            return Dialect.COSCHEDULING, namespace, labels[label]
    name = (metadata.get("annotations") or {}).get(VOLCANO_GROUP)
    return (Dialect.VOLCANO, namespace, name) if name else None


def _count(tally: Tally, pod: Body, schedulers: Collection[str]) -> None:
    spec = pod.get("spec") or {}
    phase = (pod.get("status") or {}).get("phase", "")
    tally.pods += 1
    tally.ours = tally.ours or spec.get("schedulerName") in schedulers
    if phase == "Succeeded":
        tally.succeeded += 1
    elif phase == "Failed":
        tally.failed += 1
    elif spec.get("nodeName"):
        tally.bound += 1
        tally.running += phase == "Running"
