"""Running pods as the solver needs them: summed up, so that few travel to its process.

A solve asks of the running pods what each node has left, how many GPUs a namespace and a gang
hold, and which leaves a gang with a bandwidth spans. So pods of one gang on one node count
like one pod that asks for their sum, and so do all pods of a node that hold no GPU and no
bandwidth. Reasons, which name pods, are found outside of the solver process.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import replace

from fourleaf.model.resources import total
from fourleaf.model.snapshot import RunningPod


def compacted(
    running: tuple[RunningPod, ...], apart: Collection[tuple[str, str]] = ()
) -> tuple[RunningPod, ...]:
    """The same room taken by fewer pods, in the order of the first of each.

    Pods whose (namespace, name) is among those `apart` stay themselves.
    """
    groups: dict[Hashable, list[RunningPod]] = {}
    for pod in running:
        name = (pod.namespace, pod.name)
        groups.setdefault(name if name in apart else _alike(pod), []).append(pod)
    return tuple(
        group[0]
        if len(group) == 1
        else replace(
            group[0],
            request=total([p.request for p in group]),
            ends=_last(group),
            devices=tuple(sorted(n for p in group for n in p.devices)),
        )
        for group in groups.values()
    )


def _last(group: list[RunningPod]) -> float | None:
    """When the last of them ends, unknown where it is unknown of one."""
    ends = [pod.ends for pod in group if pod.ends is not None]
    return max(ends) if len(ends) == len(group) else None


def _alike(pod: RunningPod) -> Hashable:
    """The same for pods that count like one."""
    if pod.request.gpus or pod.bandwidth:
        return (pod.node, pod.namespace, pod.gang, pod.bandwidth)
    return pod.node
