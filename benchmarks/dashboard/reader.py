"""The cluster alone: `python -m benchmarks.dashboard.reader KUBECONFIG`.

Reads it and shows nothing: loads the modules of `fourleaf dashboard`, waits until the whole
cluster is known, and prints the resident set in MiB.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import fourleaf.dashboard.serve  # noqa: F401 - what the dashboard has loaded before it reads
from fourleaf.cli.cluster.connection import connected
from fourleaf.dashboard.sources.live_cluster import LiveSource
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.runtime.logs import set_up_logs


def memory_of(pid: int | None, field: str) -> float:
    """`VmRSS` or `VmHWM` of a process, MiB."""
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB$", text, re.M)
    return int(found[1]) / 1024 if found else float("nan")


async def read(kubeconfig: str) -> float:
    """Read the cluster, and tell what that takes."""
    async with (
        connected(kubeconfig, None) as cluster,
        LiveSource("the cluster alone", cluster, SystemClock()) as source,
    ):
        await source.synced()
        return memory_of(os.getpid(), "VmRSS")


if __name__ == "__main__":
    set_up_logs()
    print(asyncio.run(read(sys.argv[1])))
