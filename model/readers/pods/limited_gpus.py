"""GPUs that an annotation gives to pods whose containers ask for none, which no quota counts."""

from __future__ import annotations

from fourleaf.model.config.spec import Devices
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.pods.pods import Pod


def refuse_beyond_limits(
    pod: Pod, gpus: int, devices: Devices, manifest: Manifest, field: str, value: str
) -> bool:
    """Report in `manifest` that `field` alone gives `pod` its GPUs, and whether that is refused.

    It is where the config has that so. A pod that has its node keeps what it was given there. In
    mode `dra` devices come by ResourceClaims alone, which quotas count.
    """
    if not devices.require_limits or pod.request.gpus or pod.node or devices.mode == "dra":
        return False
    manifest.error(
        field,
        value,
        f"alone gives {pod.name} {gpus} GPUs, which no quota would count",
        f"Ask for {gpus} GPUs in the limits of its containers as well, for "
        "spec.devices.requireLimits is set.",
    )
    return True
