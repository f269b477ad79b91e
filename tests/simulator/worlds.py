"""Worlds in which gangs stand where a test wants them."""

from __future__ import annotations

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.simulator.gangs import NAMESPACE
from fourleaf.simulator.options import ReplayOptions
from fourleaf.simulator.trace import Job
from fourleaf.simulator.world import ReplayState
from tests.simulator.made import trace


def key(name: str) -> GangKey:
    """Name the gang of a job."""
    return GangKey(NAMESPACE, name)


def world(fabric: Fabric, options: ReplayOptions, standing: dict[Job, list[str]]) -> ReplayState:
    """Make a world at second 0 in which these jobs run on these nodes."""
    made = ReplayState.of(trace(*standing), fabric, options)
    for job, nodes in standing.items():
        made.submit(job)
        names = made.waiting[key(job.name)].gang.roles[0].pods
        made.launch(key(job.name), tuple(zip(names, nodes, strict=True)))
    return made


def nodes(made: ReplayState, name: str) -> list[str]:
    """Tell the nodes of a gang that runs, in rank order."""
    return [node for _, node in made.cluster.running[key(name)].pods]
