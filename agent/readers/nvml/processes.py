"""What computes on a device."""

from __future__ import annotations

from typing import Any

from fourleaf.agent.cgroups import Pods
from fourleaf.agent.readers.nvml.calls import Nvml
from fourleaf.model.crds.node_status import Process

_CALLS = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetMPSComputeRunningProcesses")
MIB = 2**20


def processes(nvml: Nvml, handle: Any, index: int, pods: Pods) -> list[Process]:
    """The processes that compute on the device, those under MPS included, by number.

    NVML tells the process IDs of the host, so the agent has to see the host's processes.
    """
    found: dict[int, Process] = {}
    for call in _CALLS:
        for process in nvml.ask(call, handle).or_else(()):
            pid = int(process.pid)
            memory = int(process.usedGpuMemory or 0) // MIB
            found[pid] = Process(gpu=index, pid=pid, memory_mib=memory, pod_uid=pods.uid_of(pid))
    return [found[pid] for pid in sorted(found)]
