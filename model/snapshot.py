"""Everything a solve needs to know, at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from model.config import SchedulerConfig
from model.fabric import Fabric
from model.gang import Gang, GangKey
from model.resources import Resources, minus, total
from model.standing import StandingGang

DEFAULTS = SchedulerConfig()
"""The config where none is given."""


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod that holds room on a node, ours or anybody's.

    `gang` is set where it belongs to one. `bandwidth` in Mbit/s is what its gang asked
    for on each node. `ends` is when it is expected to end, in seconds since the epoch, `None`
    where nobody says.
    """

    namespace: str
    name: str
    node: str
    request: Resources
    gang: GangKey | None = None
    priority: int = 0
    bandwidth: int | None = None
    ours: bool = False
    ends: float | None = None

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Snapshot:
    """Fabric, what runs, what waits, and the config. `now` in seconds since the epoch.

    `standing` are the gangs of which members run, where somebody asks whether they may be
    moved, repaired or evicted. Their live members are among `running`.
    """

    fabric: Fabric
    running: tuple[RunningPod, ...] = ()
    gangs: tuple[Gang, ...] = ()
    config: SchedulerConfig = DEFAULTS
    now: float = 0.0
    standing: tuple[StandingGang, ...] = ()

    @cached_property
    def used(self) -> Mapping[str, Resources]:
        """Node name -> what its running pods hold; nodes without pods are absent."""
        held: dict[str, list[Resources]] = {}
        for pod in self.running:
            held.setdefault(pod.node, []).append(pod.request)
        return {node: total(requests) for node, requests in held.items()}

    @cached_property
    def free(self) -> Mapping[str, Resources]:
        """Node name -> what is left; an unschedulable node keeps what it has but takes nobody."""
        used = self.used
        return {
            name: minus(node.allocatable, used[name]) if name in used else node.allocatable
            for name, node in self.fabric.nodes.items()
        }
