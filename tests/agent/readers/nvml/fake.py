"""A stand-in for `pynvml` that cannot drift from it.

Constants, errors and structures are the real module's. A function that the real module does not
have, or that is called with arguments which the real one does not take, fails the test.
"""

# ruff: noqa: N802 - functions have the names of the module
from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml  # type: ignore[import-untyped]

SWITCH = "switch"
"""The far end of a link that goes to an NVSwitch."""

LOST = pynvml.NVML_ERROR_GPU_IS_LOST
UNSUPPORTED = pynvml.NVML_ERROR_NOT_SUPPORTED


@dataclass
class FakeGpu:
    """A device, which is its own handle. `links` are far ends: an address, `SWITCH`, or "".

    `errors` are codes by function, "" for all functions.
    """

    uuid: str
    bus: str
    name: str = "NVIDIA H100 80GB HBM3"
    memory: int = 81559 * 2**20
    links: Sequence[str] = ()
    version: int = pynvml.NVML_NVLINK_VERSION_4_0
    speed: int | None = None
    fabric: tuple[bytes, int, int, int] | None = None
    rows: tuple[int, int, int, int] | None = None
    retiring: int | None = None
    uncorrected: int | None = None
    recovery: int | None = None
    mig: int | None = None
    processes: Sequence[tuple[int, int | None]] = ()
    mps: Sequence[tuple[int, int | None]] = ()
    errors: dict[str, int] = field(default_factory=dict)


class FakeNvml:
    """The module, for a machine with `gpus`. `broken` are NVML codes or errors by function."""

    def __init__(self, *gpus: FakeGpu) -> None:
        self.gpus = list(gpus)
        self.broken: dict[str, int | Exception] = {}
        self.events: list[tuple[FakeGpu, int, int]] = []
        self.no_p2p: set[frozenset[str]] = set()
        self.asked: list[str] = []
        self.opened = 0
        self._registered: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        real = getattr(pynvml, name)
        if not inspect.isfunction(real):
            return real
        signature = inspect.signature(real)

        def call(*arguments: Any) -> Any:
            signature.bind(*arguments)
            by_value = [one for one in arguments if isinstance(one, ctypes.Structure)]
            assert not by_value, f"{name} takes a reference; a structure ends the process"
            self.asked.append(name)
            self._fail(self.broken.get(name, 0))
            first = arguments[0] if arguments else None
            if isinstance(first, FakeGpu):
                self._fail(first.errors.get(name, first.errors.get("", 0)))
            answer: Callable[..., Any] | None = getattr(self, f"_{name}", None)
            if answer is None:
                self._fail(UNSUPPORTED)
            assert answer is not None
            return answer(*arguments)

        return call

    def _fail(self, code: int | Exception) -> None:
        if isinstance(code, Exception):
            raise code
        if code:
            raise pynvml.NVMLError(code)

    def _given(self, value: Any) -> Any:
        if value is None:
            self._fail(UNSUPPORTED)
        return value

    def _nvmlInit(self) -> None:
        self.opened += 1

    def _nvmlShutdown(self) -> None:
        self.opened -= 1

    def _nvmlSystemGetDriverVersion(self) -> str:
        return "580.65.06"

    def _nvmlDeviceGetCount(self) -> int:
        if not self.opened:
            self._fail(pynvml.NVML_ERROR_UNINITIALIZED)
        return len(self.gpus)

    def _nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        gpu = self.gpus[index]
        self._fail(gpu.errors.get("nvmlDeviceGetHandleByIndex", 0))
        return gpu

    def _nvmlDeviceGetUUID(self, gpu: FakeGpu) -> str:
        return gpu.uuid

    def _nvmlDeviceGetName(self, gpu: FakeGpu) -> str:
        return gpu.name

    def _nvmlDeviceGetPciInfo(self, gpu: FakeGpu) -> Any:
        return pynvml.nvmlPciInfo_t(busId=gpu.bus.encode())

    def _nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> Any:
        return pynvml.c_nvmlMemory_t(total=gpu.memory, used=1, free=gpu.memory - 1)

    def _nvmlDeviceGetNvLinkState(self, gpu: FakeGpu, link: int) -> int:
        if not gpu.links:
            self._fail(UNSUPPORTED)
        if link >= len(gpu.links):
            self._fail(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return int(bool(gpu.links[link]))

    def _nvmlDeviceGetNvLinkRemoteDeviceType(self, gpu: FakeGpu, link: int) -> int:
        to_switch = gpu.links[link] == SWITCH
        kind = pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH if to_switch else None
        return int(kind if kind is not None else pynvml.NVML_NVLINK_DEVICE_TYPE_GPU)

    def _nvmlDeviceGetNvLinkRemotePciInfo(self, gpu: FakeGpu, link: int) -> Any:
        return pynvml.nvmlPciInfo_t(busId=gpu.links[link].encode())

    def _nvmlDeviceGetNvLinkVersion(self, gpu: FakeGpu, link: int) -> int:
        return gpu.version

    def _nvmlDeviceGetP2PStatus(self, one: FakeGpu, other: FakeGpu, index: int) -> int:
        assert index == pynvml.NVML_P2P_CAPS_INDEX_NVLINK
        apart = frozenset({one.uuid, other.uuid}) in self.no_p2p
        code = pynvml.NVML_P2P_STATUS_NOT_SUPPORTED if apart else pynvml.NVML_P2P_STATUS_OK
        return int(code)

    def _nvmlDeviceGetFieldValues(self, gpu: FakeGpu, fields: list[int]) -> Any:
        known = {
            pynvml.NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: gpu.speed,
            pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: gpu.recovery,
        }
        values = (pynvml.c_nvmlFieldValue_t * len(fields))()
        for value, number in zip(values, fields, strict=True):
            found = known[number]
            value.fieldId = number
            value.nvmlReturn = pynvml.NVML_SUCCESS if found is not None else UNSUPPORTED
            value.value.uiVal = found or 0
        return values

    def _nvmlDeviceGetGpuFabricInfoV(self, gpu: FakeGpu, info: Any) -> None:
        assert info._obj.version == pynvml.nvmlGpuFabricInfo_v2
        self._nvmlDeviceGetGpuFabricInfo(gpu, info)

    def _nvmlDeviceGetGpuFabricInfo(self, gpu: FakeGpu, reference: Any) -> None:
        info = reference._obj
        cluster, info.cliqueId, info.state, info.status = self._given(gpu.fabric)
        info.clusterUuid[:] = list(cluster)

    def _nvmlDeviceGetRemappedRows(self, gpu: FakeGpu) -> Any:
        return self._given(gpu.rows)

    def _nvmlDeviceGetRetiredPagesPendingStatus(self, gpu: FakeGpu) -> Any:
        return self._given(gpu.retiring)

    def _nvmlDeviceGetTotalEccErrors(self, gpu: FakeGpu, kind: int, counter: int) -> Any:
        assert kind == pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
        assert counter == pynvml.NVML_VOLATILE_ECC
        return self._given(gpu.uncorrected)

    def _nvmlDeviceGetMigMode(self, gpu: FakeGpu) -> list[int]:
        return [self._given(gpu.mig), 0]

    def _nvmlDeviceGetComputeRunningProcesses(self, gpu: FakeGpu) -> list[Any]:
        return [_process(*one) for one in gpu.processes]

    def _nvmlDeviceGetMPSComputeRunningProcesses(self, gpu: FakeGpu) -> list[Any]:
        return [_process(*one) for one in gpu.mps]

    def _nvmlEventSetCreate(self) -> str:
        return "events"

    def _nvmlEventSetFree(self, events: str) -> None:
        self._registered.clear()

    def _nvmlDeviceGetSupportedEventTypes(self, gpu: FakeGpu) -> int:
        return int(pynvml.nvmlEventTypeXidCriticalError | pynvml.nvmlEventTypePState)

    def _nvmlDeviceRegisterEvents(self, gpu: FakeGpu, types: int, events: str) -> None:
        assert types == pynvml.nvmlEventTypeXidCriticalError
        self._registered.add(gpu.uuid)

    def _nvmlEventSetWait_v2(self, events: str, timeout: int) -> Any:
        assert timeout == 0
        if not self.events:
            self._fail(pynvml.NVML_ERROR_TIMEOUT)
        gpu, type_, data = self.events.pop(0)
        assert gpu.uuid in self._registered
        event = {"device": gpu, "eventType": type_, "eventData": data}
        assert set(event) <= {name for name, *_ in pynvml.c_nvmlEventData_t._fields_}
        return SimpleNamespace(**event)


def _process(pid: int, memory: int | None) -> Any:
    found = {"pid": pid, "usedGpuMemory": memory}
    assert set(found) <= {name for name, *_ in pynvml.c_nvmlProcessInfo_v2_t._fields_}
    return pynvml.nvmlFriendlyObject(found)
