"""The Philly trace of Microsoft: 82,247 jobs with arrival, duration and number of GPUs.

A job of up to 8 GPUs is one pod; a larger one is ceil(GPUs / 8) pods of 8 GPUs, one node each.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from fourleaf.simulator.readers.folder import read
from fourleaf.simulator.trace import Job, Trace, by_arrival

FILE = "philly_sia.csv"
NODE_GPUS = 8
"""GPUs of a node."""


def trace() -> Trace:
    """The jobs of all its clusters. Jobs of less than a second last one."""
    source = "Microsoft Philly trace as shipped with Sia (CC-BY-4.0)"
    jobs = [
        replace(job, name=f"philly-{number:05d}") for number, job in enumerate(read(FILE, _job))
    ]
    return Trace("philly", source, by_arrival(jobs))


def _job(row: dict[str, str]) -> Job:
    when = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC)
    gpus = int(row["num_gpus"])
    return Job(
        "philly",
        int(when.timestamp()),
        max(1, round(float(row["duration"]))),
        -(-gpus // NODE_GPUS),
        min(gpus, NODE_GPUS),
    )
