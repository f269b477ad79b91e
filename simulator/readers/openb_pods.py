"""The pods of Alibaba's cluster-trace-gpu-v2023 (openb), the trace of the FGD paper (ATC'23)."""

from __future__ import annotations

from fourleaf.simulator.readers.folder import read
from fourleaf.simulator.trace import WHOLE, Job, Trace, by_arrival

FILE = "openb_pod_list_default.csv"
MIB = 2**20


def trace() -> Trace:
    """All pods, each a job of its own; `Job.share` carries fractions of a GPU.

    A pod lasts from its creation to its deletion, at least a second.
    """
    source = "Alibaba cluster-trace-gpu-v2023, default pods"
    return Trace("openb", source, by_arrival(list(read(FILE, _job))))


def _job(row: dict[str, str]) -> Job:
    created = int(row["creation_time"])
    gpus = int(row["num_gpu"])
    return Job(
        row["name"],
        created,
        max(1, int(row["deletion_time"]) - created),
        1,
        gpus,
        int(row["cpu_milli"]),
        int(row["memory_mib"]) * MIB,
        int(row["gpu_milli"]) if gpus == 1 else WHOLE,
    )
