"""Running pods as the solver needs them: summed up, so that few travel to its process.

A solve asks of the running pods what each node has left, how many GPUs a namespace and a gang
hold, and which leaves a gang with a bandwidth spans. So pods of one gang on one node count
like one pod that asks for their sum, and so do all pods of a node that hold no GPU and no
bandwidth. Reasons, which name pods, are found outside of the solver process.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from model.resources import Resources, plus
from model.snapshot import RunningPod


def condensed(running: tuple[RunningPod, ...]) -> tuple[RunningPod, ...]:
    """The same room taken by fewer pods, in the order of the first of each."""
    first: dict[Hashable, RunningPod] = {}
    sums: dict[Hashable, Resources] = {}
    for pod in running:
        key: Hashable = pod.node
        if pod.request.gpus or pod.bandwidth:
            key = (pod.node, pod.namespace, pod.gang, pod.bandwidth)
        if key in first:
            sums[key] = plus(sums.get(key, first[key].request), pod.request)
        else:
            first[key] = pod
    return tuple(
        replace(pod, request=sums[key]) if key in sums else pod for key, pod in first.items()
    )
