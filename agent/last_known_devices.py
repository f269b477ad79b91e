"""What stays in an inventory although it was not read this time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.agent.readers.from_file import SOURCE as FILE
from fourleaf.agent.readings import Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.crds.node_status import Gpu

GONE = "the driver no longer lists it"


def carried_over(before: Reading | None, now: Reading) -> Reading:
    """`now` with the devices that were there `before` and are missing, as not healthy.

    Where the reading failed as a whole, these are all of them. A device that an administrator
    takes out of a file is gone, and so is one whose number another device has by now.
    """
    if before is None or not before.gpus or (now.source == FILE and now.fault is None):
        return now
    failed = now.fault is not None and not now.gpus
    uuids = {gpu.uuid for gpu in now.gpus}
    numbers = {gpu.index for gpu in now.gpus}
    why = clipped(now.fault.message) if failed and now.fault else GONE
    lost = [
        gpu.model_copy(update={"healthy": False, "message": why})
        for gpu in before.gpus
        if gpu.uuid not in uuids and gpu.index not in numbers
    ]
    if not lost:
        return now
    return replace(
        now,
        source=before.source if failed else now.source,
        driver_version=now.driver_version or before.driver_version,
        gpus=tuple(sorted((*now.gpus, *lost), key=lambda gpu: gpu.index)),
    )


def known_to_the_kubelet(gpus: Sequence[Gpu], most: float) -> list[Gpu]:
    """`gpus` without devices that are gone, as far as the node has fewer by what its kubelet tells.

    Once the device plugin starts anew it forgets them, and an inventory that names more than the
    node has is not believed.
    """
    surplus = len(gpus) - most
    gone = [gpu.index for gpu in gpus if gpu.message == GONE and not gpu.healthy]
    dropped = set(gone[-int(surplus) :]) if 0 < surplus < len(gpus) else set()
    return [gpu for gpu in gpus if gpu.index not in dropped]
