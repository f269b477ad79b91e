"""The Kalos cluster of the Acme trace: 319 training gangs of 1 to 128 nodes.

The converter (`transform_trace.py` of hyunnnchoi/AcmeTrace) wrote the number of iterations as
int(duration / 0.5 s), with 0.5 s as the computing time of each; so their product is the
duration that was recorded, to half a second. Its other columns on iterations and networks are
invented, and nothing here reads them.
"""

from __future__ import annotations

from fourleaf.simulator.readers.folder import read
from fourleaf.simulator.trace import Job, Trace, by_arrival

FILE = "kalos_converted_319jobs.csv"
ITERATION_SECONDS = 0.5
"""Seconds of the converter's iteration."""


def trace() -> Trace:
    """All gangs: `gpu_workers` pods of `gpu_per_worker` GPUs, which last a second at least."""
    source = "Acme trace, Kalos cluster (CC-BY-4.0), 319 completed gangs"
    return Trace("kalos", source, by_arrival(list(read(FILE, _job))))


def _job(row: dict[str, str]) -> Job:
    gpus = int(float(row["gpu_per_worker"]))
    return Job(
        f"kalos-{int(row['job_id']):05d}",
        round(float(row["arrival_time"])),
        max(1, round(int(row["num_iteration"]) * ITERATION_SECONDS)),
        int(row["gpu_workers"]),
        gpus,
        int(float(row["cpu_per_gpu_worker"]) * 1000) * gpus,
    )
