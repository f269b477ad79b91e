"""Make the recording that is shipped: `python -m fourleaf.simulator.recording FILE`.

Made-up gangs of made-up teams, drawn from a seed, on 64 nodes under a scheduler that knows no
leaves. It is written by what records clusters, and holds nothing of public data.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.simulator.recording.files import RecordingFiles, files_of
from fourleaf.simulator.recording.look import look_at

SEED = 7
BEGAN = 1_767_225_600
"""The first of January 2026, in seconds since the epoch."""
GANGS = 150
LOAD = 0.9
"""What all gangs ask for, as a share of all GPU-seconds while they arrive."""
TEAMS = ("vision", "speech", "language", "robots", "research")
SHAPES = ((16, 8), (8, 8), (4, 8), (2, 8), (1, 8), (1, 4), (1, 1))
"""Pods and GPUs of each."""
SHARES = (5, 10, 20, 20, 20, 10, 15)
"""How many gangs of 100 have each shape."""
MEDIAN_SECONDS = 4 * 3600
SPREAD = 0.9
"""The standard deviation of the logarithm of how long gangs run."""
NODES = 64
GPUS = 8
FAILURES = (("leaf-3-1", 40_000, 20_000), ("leaf-9-2", 90_000, 40_000))
"""Node, second and seconds of each failure; no gang is put there meanwhile."""


@dataclass(frozen=True, slots=True)
class MadeGang:
    """A gang with when it arrives and how long it runs, in seconds."""

    gang: Gang
    arrival: int
    seconds: int

    @property
    def pods(self) -> int:
        """How many nodes it takes a pod on."""
        return self.gang.roles[0].size

    @property
    def gpus(self) -> int:
        """GPUs of a pod."""
        return self.gang.roles[0].request.gpus


def made_gangs(seed: int) -> list[MadeGang]:
    """All gangs, by arrival."""
    dice = random.Random(f"bundled {seed}")  # noqa: S311 - a replay, not a secret
    shapes = dice.choices(SHAPES, SHARES, k=GANGS)
    runs = [max(60, round(MEDIAN_SECONDS * dice.lognormvariate(0, SPREAD))) for _ in shapes]
    work = sum(pods * gpus * run for (pods, gpus), run in zip(shapes, runs, strict=True))
    span = round(work / (LOAD * NODES * GPUS))
    arrivals = sorted(dice.randrange(span) for _ in shapes)
    return [
        MadeGang(_gang(f"train-{i:03d}", dice.choice(TEAMS), *shape, arrival), arrival, run)
        for i, (shape, run, arrival) in enumerate(zip(shapes, runs, arrivals, strict=True))
    ]


def _gang(name: str, team: str, pods: int, gpus: int, arrival: int) -> Gang:
    role = Role(tuple(f"{name}-{i}" for i in range(pods)), Resources(gpus, 4000 * gpus))
    return Gang(GangKey(team, name), (role,), created=float(BEGAN + arrival))


@dataclass(frozen=True, slots=True)
class MadeRun:
    """A gang on its nodes, from a moment to another, in seconds since the beginning."""

    one: MadeGang
    nodes: tuple[str, ...]
    since: int
    ends: int


class MadeCluster:
    """The cluster as time passes: who waits, who runs, which nodes are away."""

    def __init__(self, coming: Sequence[MadeGang]) -> None:
        self.fabric = Shape.regular(NODES).fabric()
        self.away: set[str] = set()
        self.free = dict.fromkeys(self.fabric.nodes, GPUS)
        self.coming = tuple(coming)
        self.waiting: list[MadeGang] = []
        self.running: list[MadeRun] = []
        self.moments = {0, *(one.arrival for one in coming)}
        self.moments |= {when for _, at, seconds in FAILURES for when in (at, at + seconds)}

    def next(self) -> Snapshot:
        """Go to the next moment at which something happens, and let it happen."""
        now = min(self.moments)
        self.moments.remove(now)
        away = {node for node, at, seconds in FAILURES if at <= now < at + seconds}
        for run in list(self.running):
            if run.ends <= now or away.intersection(run.nodes):
                self._stop(run, now)
        self.waiting += [one for one in self.coming if one.arrival == now]
        for one in list(self.waiting):
            self._start(one, now, away)
        if away != self.away:
            self.away = away
            self.fabric = self.fabric.with_nodes(
                lambda one: replace(one, ready=one.name not in away)
            )
        gangs = tuple(one.gang for one in self.waiting)
        return Snapshot(self.fabric, (), gangs, now=float(BEGAN + now))

    def standing(self) -> list[StandingGang]:
        """The gangs that run."""
        return [_standing(run) for run in self.running]

    def _stop(self, run: MadeRun, now: int) -> None:
        """Let a gang end, or wait again with the time that it has left."""
        self.running.remove(run)
        for node in run.nodes:
            self.free[node] += run.one.gpus
        if run.ends > now:
            self.waiting.append(replace(run.one, arrival=-1, seconds=run.ends - now))

    def _start(self, one: MadeGang, now: int, away: set[str]) -> None:
        """Let a gang start on the emptiest nodes, whatever leaf they are in, if there is room."""
        fit = [node for node, free in self.free.items() if free >= one.gpus and node not in away]
        nodes = tuple(sorted(fit, key=lambda node: -self.free[node])[: one.pods])
        if len(nodes) < one.pods:
            return
        self.waiting.remove(one)
        for node in nodes:
            self.free[node] -= one.gpus
        self.running.append(MadeRun(one, nodes, now, now + one.seconds))
        self.moments.add(now + one.seconds)


def _standing(run: MadeRun) -> StandingGang:
    role = run.one.gang.roles[0]
    bound = replace(role, pods=(), bound=tuple(zip(role.pods, run.nodes, strict=True)))
    return StandingGang(replace(run.one.gang, roles=(bound,)), started=float(BEGAN + run.since))


def record(folder: Path, seed: int = SEED) -> None:
    """Let the time pass, and record it into `folder`."""
    made, last = MadeCluster(made_gangs(seed)), None
    files = RecordingFiles(folder)
    files.open()
    while made.moments:
        last = look_at(made.next(), made.standing(), last)
        files.look(last, {})
    files.close()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        record(Path(folder))
        lines = (path.read_bytes() for path in files_of(Path(folder)))
        Path(sys.argv[1]).write_bytes(b"".join(lines))
