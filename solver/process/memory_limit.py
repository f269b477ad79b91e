"""Memory limit: how much the solver process may take, and how much it has taken at its peak."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

MIB = 2**20


def mapped_beyond_resident() -> int:
    """Tell the bytes of address space mapped but not in memory; 0 where unknown."""
    with suppress(OSError, ValueError):
        size, resident = Path("/proc/self/statm").read_text(encoding="ascii").split()[:2]
        return (int(size) - int(resident)) * os.sysconf("SC_PAGE_SIZE")
    return 0


def limit_memory(mib: int, reserved: int) -> None:
    """Bound the address space, so that the process cannot hold more than `mib` MiB.

    `reserved` bytes were mapped by libraries on loading without being used; they come on
    top, because otherwise many cores (a stack for each thread) would eat the whole limit.
    Where the system has no such limit, nothing happens.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = mib * MIB + reserved
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def peak_memory_mib() -> int:
    """Tell the most memory that this process has held, in MiB, rounded up."""
    with suppress(OSError, StopIteration):
        # On Linux, ru_maxrss starts from the peak of the process that started this one.
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        line = next(line for line in lines if line.startswith("VmHWM:"))
        return -(-int(line.split()[1]) // 1024)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return -(-peak // (MIB if sys.platform == "darwin" else 1024))
