"""Who holds which GPUs of a node."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.model.gang import GangKey
from fourleaf.model.node import Node
from fourleaf.model.snapshot import RunningPod

Holder = GangKey | str | None
"""Who holds a GPU: a gang of ours, any other pod, or none."""


def held_by(node: Node, pods: Sequence[RunningPod]) -> list[Holder]:
    """Who holds each GPU of `node`; pods whose devices are not known take the first free ones."""
    cells: list[Holder] = [None] * max(0, node.allocatable.gpus)
    for pod in pods:
        for device in pod.devices:
            if device < len(cells):
                cells[device] = _holder(pod)
    position = 0
    for pod in pods:
        left = 0 if pod.devices else pod.request.gpus
        while left and position < len(cells):
            if cells[position] is None:
                cells[position] = _holder(pod)
                left -= 1
            position += 1
    return cells


def _holder(pod: RunningPod) -> Holder:
    return pod.gang if pod.ours and pod.gang is not None else str(pod)
