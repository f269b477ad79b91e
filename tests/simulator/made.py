"""Hand-made traces and fabrics for replays."""

from __future__ import annotations

from typing import Any

from fourleaf.model.fabric import Fabric
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.simulator.options import ReplayOptions
from fourleaf.simulator.trace import Job, Trace, by_arrival


def job(name: str, arrival: int, duration: int, pods: int = 1, gpus: int = 8) -> Job:
    """Make a job of `pods` pods that each take a whole node, unless told otherwise."""
    return Job(name, arrival, duration, pods, gpus)


def trace(*jobs: Job) -> Trace:
    """Make a trace of these jobs."""
    return Trace("made", "made by hand", by_arrival(jobs))


def leaves(*sizes: int) -> Fabric:
    """Make a fabric of one spine: leaves of so many nodes of 8 GPUs, `leaf-0-0` and so on."""
    return Shape((sizes,)).fabric()


def options(policy: str = "first-fit", period: int = 1, **more: Any) -> ReplayOptions:
    """Make options; a cycle every second, so that times can be worked out by hand."""
    return ReplayOptions(policy=policy, period=period, **more)
