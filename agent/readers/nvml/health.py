"""What is wrong with a device, as the driver's own books say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fourleaf.agent.readers.nvml.calls import Nvml

Check = Callable[[Nvml, Any], Iterator[str]]


def complaints(nvml: Nvml, handle: Any) -> list[str]:
    """What makes a device unfit to be given out now; texts that stay the same while it is so."""
    return [text for check in CHECKS for text in check(nvml, handle)]


def _memory_rows(nvml: Nvml, handle: Any) -> Iterator[str]:
    rows = nvml.ask("nvmlDeviceGetRemappedRows", handle).or_else((0, 0, 0, 0))
    _, _, pending, failed = rows
    if failed:
        yield "a row of its memory could not be remapped; the device has to be replaced"
    if pending:
        yield "a row of its memory is to be remapped; reset the device"


def _memory_pages(nvml: Nvml, handle: Any) -> Iterator[str]:
    if nvml.ask("nvmlDeviceGetRetiredPagesPendingStatus", handle).or_else(0):
        yield "a page of its memory is to be retired; reset the device"


def _memory_errors(nvml: Nvml, handle: Any) -> Iterator[str]:
    library = nvml.library
    counted = nvml.ask(
        "nvmlDeviceGetTotalEccErrors",
        handle,
        library.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
        library.NVML_VOLATILE_ECC,
    )
    if counted.or_else(0):
        yield "its memory had errors that could not be corrected; reset the device"


def _recovery(nvml: Nvml, handle: Any) -> Iterator[str]:
    library = nvml.library
    actions = {
        library.NVML_GPU_RECOVERY_ACTION_GPU_RESET: "a reset of the device",
        library.NVML_GPU_RECOVERY_ACTION_NODE_REBOOT: "a reboot of the node",
        library.NVML_GPU_RECOVERY_ACTION_DRAIN_P2P: "an end of its peer-to-peer traffic",
        library.NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET: "a drain and a reset of the device",
    }
    action = nvml.field(handle, library.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)
    if action:
        yield f"the driver asks for {actions.get(action, f'recovery action {action}')}"


def _partitioned(nvml: Nvml, handle: Any) -> Iterator[str]:
    current = nvml.ask("nvmlDeviceGetMigMode", handle).or_else([0, 0])[0]
    if current == nvml.library.NVML_DEVICE_MIG_ENABLE:
        yield "MIG is on, and its instances are not given out; turn MIG off"


CHECKS: tuple[Check, ...] = (
    _memory_rows,
    _memory_pages,
    _memory_errors,
    _recovery,
    _partitioned,
)
