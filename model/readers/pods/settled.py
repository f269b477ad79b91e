"""What bound pods hold: what they were granted, whatever is said of them since.

A tenant may change the annotations of a running pod, of its owner and, by making it anew, its
claim. None of that gives devices back or takes any: what counts is what the binding wrote, and
what the containers ask for, which never changes.
"""

from __future__ import annotations

from typing import Literal

from fourleaf.model.devices.held_devices import PREFIX
from fourleaf.model.readers.pods.pods import Pod

DeviceMode = Literal["env", "count", "dra"]


def settle(pod: Pod, mode: DeviceMode, whole: bool) -> None:
    """Note how many GPUs the pod holds, once its ResourceClaims have been read.

    `whole`: it comes from a cluster, where each bound pod of ours carries its grant. In files a pod
    without one is believed. A version that wrote no grant left `count` mode nothing else to go by.
    """
    if not pod.node:
        return
    granted = _granted(pod, mode, whole)
    if granted is not None and pod.asked is not None:
        # Claims are held by the API for as long as the pod runs, and cannot be changed.
        asked = pod.request if mode == "dra" else pod.asked
        pod.settled = max(asked.gpus, granted)


def _granted(pod: Pod, mode: DeviceMode, whole: bool) -> int | None:
    """The GPUs that the pod was given when it was bound, None where nothing settles that."""
    if pod.grant is not None:
        return max(pod.grant.gpus, len(pod.devices))
    if pod.devices:
        return len(pod.devices)
    if not whole:
        return None
    bound_by_us = any(key.startswith(PREFIX) for key in pod.annotations)
    return None if mode == "count" and bound_by_us else 0
