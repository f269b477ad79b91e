"""The multi-node NVLink fabric that a device belongs to."""

from __future__ import annotations

import ctypes
import uuid
from typing import Any

from fourleaf.agent.readers.nvml.calls import Nvml
from fourleaf.model.crds.node_status import NvlinkFabric


def fabric(nvml: Nvml, handle: Any) -> tuple[NvlinkFabric | None, str]:
    """The fabric of a device, None where it knows of none; and why it does not work, or ""."""
    library = nvml.library
    info = library.c_nvmlGpuFabricInfoV_t()
    if not nvml.ask("nvmlDeviceGetGpuFabricInfoV", handle, ctypes.byref(info)).given:
        info = library.c_nvmlGpuFabricInfo_t()
        if not nvml.ask("nvmlDeviceGetGpuFabricInfo", handle, ctypes.byref(info)).given:
            return None, ""
    names = {
        library.NVML_GPU_FABRIC_STATE_NOT_STARTED: "NotStarted",
        library.NVML_GPU_FABRIC_STATE_IN_PROGRESS: "InProgress",
        library.NVML_GPU_FABRIC_STATE_COMPLETED: "Completed",
    }
    state = names.get(info.state)
    if state is None:
        return None, ""
    wrong = ""
    if info.state != library.NVML_GPU_FABRIC_STATE_COMPLETED:
        wrong = f"it has not joined its NVLink fabric ({state})"
    elif info.status != library.NVML_SUCCESS:
        wrong = f"it could not join its NVLink fabric (NVML error {info.status})"
    number = uuid.UUID(bytes=bytes(info.clusterUuid))
    # A fabric within one node has no identity.
    cluster = str(number) if number.int else ""
    return NvlinkFabric(cluster_uuid=cluster, clique_id=int(info.cliqueId), state=state), wrong
