"""Memory limit: how much the solver process may take, and how much it has taken at its peak."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

MIB = 2**20

UNLIMITED = 2**60
"""Bytes; version 1 of cgroups says something above where there is no limit."""

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def mapped_beyond_resident() -> int:
    """Tell the bytes of address space mapped but not in memory; 0 where unknown."""
    with suppress(OSError, ValueError):
        size, resident = Path("/proc/self/statm").read_text(encoding="ascii").split()[:2]
        return (int(size) - int(resident)) * os.sysconf("SC_PAGE_SIZE")
    return 0


LEAST_MIB = 256
"""What the solver process may take however small the container is."""

SPARE_MIB = 128
"""What of a container's memory is left for its other process to grow by."""


def container_limit_mib(root: Path = CGROUPS, own: Path = OWN_CGROUP) -> int | None:
    """Tell the MiB that the container of this process may hold in all, None without a limit."""
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        v1 = "memory" in controllers.split(",")
        base = root / "memory" if v1 else root
        name = "memory.limit_in_bytes" if v1 else "memory.max"
        if v1 or not controllers:
            here = base / path.strip("/")
            # A limit of a parent holds as well; what is not visible from inside has none.
            found += [at / name for at in (here, *here.parents) if at == base or base in at.parents]
    limits = [text for one in found if (text := _text(one)).isdigit()]
    least = min(map(int, limits), default=UNLIMITED)
    return None if least >= UNLIMITED else least // MIB


def within_container(mib: int, limit: int | None, others: int) -> int:
    """`mib`, or less where a container of `limit` MiB, of which others hold some, has less left.

    Else the kernel would end the whole container, not the solver process, when it is full.
    """
    if limit is None:
        return mib
    return min(mib, max(LEAST_MIB, limit - others - SPARE_MIB))


def resident_mib(pid: int) -> int:
    """Tell the MiB that a process holds; 0 where unknown."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // MIB
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


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
