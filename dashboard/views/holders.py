"""Who holds which GPUs of a node."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.model.devices.layout import numbers
from fourleaf.model.gang import GangKey
from fourleaf.model.node import Node
from fourleaf.model.resources import free_devices
from fourleaf.model.snapshot import RunningPod

Holder = GangKey | str | None
"""Who holds a GPU: a gang of ours, any other pod, or none."""


def held_by(node: Node, pods: Sequence[RunningPod]) -> dict[int, Holder]:
    """Who holds each GPU of `node`, by its number, in their order.

    Pods whose devices are not known take the first free ones.
    """
    there = numbers(free_devices(node.allocatable).mask)[: max(0, node.allocatable.gpus)]
    cells: dict[int, Holder] = dict.fromkeys(there)
    for pod in pods:
        for device in pod.devices:
            if device in cells:
                cells[device] = _holder(pod)
    open_cells = iter([number for number, holder in cells.items() if holder is None])
    for pod in pods:
        for _ in range(0 if pod.devices else pod.request.gpus):
            number = next(open_cells, None)
            if number is None:
                return cells
            cells[number] = _holder(pod)
    return cells


def _holder(pod: RunningPod) -> Holder:
    return pod.gang if pod.ours and pod.gang is not None else str(pod)
