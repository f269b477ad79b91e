"""A machine with an NVIDIA driver: the reader beside `nvidia-smi`, which asks the driver itself.

Skipped where no device answers, as in continuous integration.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fourleaf.agent.inventory_consistency import examined
from fourleaf.agent.readers.nvml import NvmlReader
from fourleaf.agent.readings import Reading

WAIT_SECONDS = 60.0
MIB_HELD = 512

COMPUTE = f"""
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    error = getattr(cuda, name)(*arguments)
    if error: sys.exit(f"{{name}}: CUDA error {{error}}")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t({MIB_HELD} << 20))
"""
"""Opens device 0 and holds memory there, through the driver alone."""

HOLD = COMPUTE + 'print("holds", flush=True); sys.stdin.read()'

FAULT = (
    COMPUTE
    + r'''
ptx = b""".version 7.0
.target sm_52
.address_size 64
.visible .entry fault() { .reg .b64 %a; mov.u64 %a, 64; st.global.u64 [%a], %a; ret; }
\0"""
module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
call("cuModuleLoadData", ctypes.byref(module), ptx)
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"fault")
call("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
print(cuda.cuCtxSynchronize())
'''
)
"""A kernel that writes where no memory is: the driver reports XID 31 and ends the context."""

CUDA_ERROR_ILLEGAL_ADDRESS = 700


def _smi(*arguments: str) -> str:
    done = subprocess.run(["nvidia-smi", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _asked(*fields: str) -> list[list[str]]:
    """What `nvidia-smi` says of each device, a row a device."""
    text = _smi(f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits")
    return [[part.strip() for part in row.split(",")] for row in text.splitlines()]


@pytest.fixture(autouse=True)
def _driver() -> None:
    if shutil.which("nvidia-smi") is None:
        pytest.skip("no NVIDIA driver on this machine: nvidia-smi is not there")


def _read() -> Reading:
    reader = NvmlReader()
    try:
        return reader.read()
    finally:
        reader.close()


@contextmanager
def _computing() -> Iterator[subprocess.Popen[str]]:
    """A process that holds memory of device 0, until the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "holds\n"
        yield process
    finally:
        process.stdin.close()
        process.wait(WAIT_SECONDS)
        process.stdout.close()


def test_devices_are_those_of_nvidia_smi() -> None:
    """Number, UUID, product, memory, address and driver are what `nvidia-smi` prints."""
    reading = _read()
    assert reading.fault is None
    found = [
        [str(gpu.index), gpu.uuid, gpu.product, str(gpu.memory_mib), gpu.pci_bus_id]
        for gpu in reading.gpus
    ]
    rows = _asked("index", "uuid", "name", "memory.total", "pci.bus_id")
    # nvidia-smi pads the domain of an address to eight digits and writes it in capitals.
    assert found == [[*row[:-1], row[-1].lower()[4:]] for row in rows]
    assert {reading.driver_version} == {version for (version,) in _asked("driver_version")}


def test_the_kernel_knows_the_address() -> None:
    """The NUMA node is the one in the kernel's list of PCI devices."""
    for gpu in _read().gpus:
        folder = Path("/sys/bus/pci/devices") / gpu.pci_bus_id
        if not folder.exists():
            pytest.skip(f"the kernel shows no PCI devices here: {folder} is not there")
        number = int((folder / "numa_node").read_text())
        assert gpu.numa_node == (number if number >= 0 else None)


def test_a_sound_machine_is_ready() -> None:
    """Devices of which `nvidia-smi` says nothing bad are healthy, and all is consistent."""
    reading = _read()
    assert examined(reading).faults == ()
    rows = _asked(
        "ecc.errors.uncorrected.volatile.total", "retired_pages.pending", "mig.mode.current"
    )
    for gpu, (errors, pages, mig) in zip(reading.gpus, rows, strict=True):
        if errors in ("0", "[N/A]") and pages in ("No", "[N/A]") and mig != "Enabled":
            assert (gpu.healthy, gpu.message) == (True, "")


def test_links_are_those_of_nvidia_smi() -> None:
    """Where `nvidia-smi nvlink` shows no active link, none is published, and else some."""
    reading = _read()
    active = "GB/s" in _smi("nvlink", "--status")
    assert bool(reading.links) == (active and len(reading.gpus) > 1)


def test_a_process_that_computes_is_seen() -> None:
    """A process with memory on device 0 is listed with that memory at least, until it ends."""
    before = {process.pid for process in _read().processes}
    with _computing() as process:
        found = {one.pid: one for one in _read().processes if one.gpu == 0}
        if process.pid not in found and not found.keys() - before:
            pytest.skip("this machine's driver lists no processes, as within some containers")
        mine = found[process.pid]
        assert mine.memory_mib >= MIB_HELD
        assert mine.pod_uid == ""
    assert process.pid not in {one.pid for one in _read().processes}


def test_the_pod_of_a_process_is_seen() -> None:
    """A process in a control group as the kubelet names them belongs to that pod."""
    uid = str(uuid.uuid4())
    group = Path("/sys/fs/cgroup") / f"kubepods-pod{uid.replace('-', '_')}.slice"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        with _computing() as process:
            (group / "cgroup.procs").write_text(str(process.pid))
            found = {one.pid: one.pod_uid for one in _read().processes}
            if process.pid not in found:
                pytest.skip("this machine's driver lists no processes, as within some containers")
            assert found[process.pid] == uid
    finally:
        group.rmdir()


def test_a_fault_of_an_application_leaves_the_device_healthy() -> None:
    """A kernel that writes where it may not is reported as XID 31, for which no device is bad."""
    reader = NvmlReader()
    try:
        assert all(gpu.healthy for gpu in reader.read().gpus)
        done = subprocess.run(
            [sys.executable, "-c", FAULT],
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        assert (done.stdout.strip(), done.stderr) == (str(CUDA_ERROR_ILLEGAL_ADDRESS), "")
        assert [gpu.message for gpu in reader.read().gpus if not gpu.healthy] == []
    finally:
        reader.close()


def test_readings_leave_nothing_open() -> None:
    """A hundred readings, each with a driver loaded anew, keep no file open."""
    _read()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        _read()
    assert len(os.listdir("/proc/self/fd")) <= before
