"""The state of one replay, and the few ways in which it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fourleaf.model.extensions import NO_EXTENSIONS
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.snapshot import RunningPod
from fourleaf.model.validator.facts import facts_of
from fourleaf.simulator.cluster import SimulatedCluster
from fourleaf.simulator.communication_model import RingNetwork, hops
from fourleaf.simulator.events import EventKind, EventQueue
from fourleaf.simulator.gangs import gang_of
from fourleaf.simulator.options import ReplayOptions
from fourleaf.simulator.record import NEVER, GangRecord, ReplayRecord
from fourleaf.simulator.running_gang import FULL, Running
from fourleaf.simulator.trace import FOREVER, Job, ResidentJob, Trace


@dataclass(slots=True)
class QueuedGang:
    """A gang in the queue: the work that it has to do, and the standstill before, in ms.

    `hit` is the second from which it waits after a failure.
    """

    job: Job
    gang: Gang
    left: int
    stall: int = 0
    hit: int = NEVER


@dataclass(slots=True)
class Reservation:
    """Room kept for a gang that waits: its seats in rank order, from `starts` on its own.

    At `expires` another place is looked for.
    """

    gang: GangKey
    seats: tuple[tuple[str, str], ...]
    pods: tuple[RunningPod, ...]
    starts: int
    expires: int


@dataclass(slots=True)
class ReplayState:
    """Everything that a replay knows. `news` are gangs that no cycle has seen yet.

    `grew`: room may have become free since the last cycle. `cycles` are the moments at which
    the policy will be asked. `kept` is the reservation; where none was found, another is looked for
    from `try_again` on.
    """

    options: ReplayOptions
    cluster: SimulatedCluster
    record: ReplayRecord
    network: RingNetwork | None = None
    queue: EventQueue = field(default_factory=EventQueue)
    now: int = 0
    waiting: dict[GangKey, QueuedGang] = field(default_factory=dict)
    news: set[GangKey] = field(default_factory=set)
    grew: bool = True
    cycles: set[int] = field(default_factory=set)
    kept: Reservation | None = None
    try_again: int = 0

    @classmethod
    def of(cls, trace: Trace, fabric: Fabric, options: ReplayOptions) -> ReplayState:
        """The world before the first job arrives."""
        cluster = SimulatedCluster(fabric)
        record = ReplayRecord(
            options.policy, trace.name, trace.source, options.seed, cluster.books.gpus, trace.span,
            recovery=options.failures.recovery.value if options.failures.rate else "",
            shared=options.communication.enabled,
        )  # fmt: skip
        wires = options.communication
        network = (
            RingNetwork(fabric, wires.oversubscription, wires.share) if wires.enabled else None
        )
        return cls(options, cluster, record, network)

    def submit(self, job: Job) -> None:
        """Let a job arrive."""
        gang = gang_of(job)
        self.waiting[gang.key] = QueuedGang(job, gang, job.duration * FULL)
        self.record.gangs[job.name] = GangRecord(
            job.name, job.size, job.pods, job.arrival, job.duration, fewest=self._fewest(gang)
        )
        self.news.add(gang.key)
        self.ask_again()
        if self.options.backfill.enabled:
            self.ask_at(self.now + self.options.backfill.after)

    def settle(self, resident: ResidentJob) -> None:
        """Let a job run on that ran before the replay began."""
        job = resident.job
        gang = gang_of(job)
        self.record.gangs[job.name] = GangRecord(
            job.name, job.size, job.pods, 0, job.duration, 0, fewest=self._fewest(gang),
            resident=True,
        )  # fmt: skip
        self.waiting[gang.key] = QueuedGang(job, gang, job.duration * FULL)
        self.launch(gang.key, resident.seats)

    def ask_again(self) -> None:
        """Have the policy asked at the next multiple of the period, now at the earliest."""
        self.ask_at(self.now)

    def ask_at(self, when: int) -> None:
        """Have the policy asked at the first multiple of the period from `when` on."""
        period = self.options.period
        at = -(-when // period) * period
        if at not in self.cycles:
            self.cycles.add(at)
            self.queue.add(at, EventKind.CYCLE)

    def freed(self) -> None:
        """Note that there may be more room than the last cycle knew of."""
        self.grew = True
        if self.waiting:
            self.ask_again()

    def launch(self, key: GangKey, pods: Sequence[tuple[str, str]]) -> None:
        """Start a gang that waits."""
        entry = self.waiting.pop(key)
        self.news.discard(key)
        if self.kept is not None and self.kept.gang == key:
            self.kept = None
        one = Running(
            entry.job, entry.gang, tuple(pods), self.now, entry.left + entry.stall, entry.stall
        )
        line = self.record.gangs[entry.job.name]
        if line.start < 0:
            line.start = self.now
        self.note_wait(entry)
        self.cluster.start(one, self._expected(one))
        self.note_place(one)
        self.set_speeds(self.network.join(key, _nodes(pods)) if self.network else (key,))

    def end(self, key: GangKey) -> None:
        """Let a gang go that has done its work."""
        one = self.take(key)
        self.record.gangs[one.job.name].end = self.now

    def take(self, key: GangKey) -> Running:
        """Take a gang off the cluster."""
        one = self.cluster.finish(key, self.now)
        one.advance(self.now)
        self.record.gangs[one.job.name].worked(one.ran, one.slowed)
        one.version += 1
        if self.network is not None:
            self.set_speeds(self.network.leave(key))
        self.freed()
        return one

    def requeue(self, key: GangKey) -> None:
        """Let a gang that lost members wait again, with the work that it has left."""
        one = self.take(key)
        self.waiting[key] = QueuedGang(one.job, one.gang, one.left - one.stall, one.stall, self.now)
        self.news.add(key)
        self.record.gangs[one.job.name].restarts += 1
        self.ask_again()

    def reseat(self, key: GangKey, pods: Sequence[tuple[str, str]]) -> None:
        """Let a gang that runs go on at `pods`."""
        one = self.cluster.running[key]
        self.cluster.reseat(key, pods, self.now, self._expected(one))
        self.note_place(one)
        touched = {key}
        if self.network is not None:
            touched |= self.network.leave(key) | self.network.join(key, _nodes(pods))
        self.set_speeds(touched)

    def set_speeds(self, gangs: Iterable[GangKey]) -> None:
        """Work out anew when these gangs end."""
        for key in sorted(gangs):
            one = self.cluster.running[key]
            speed = self.network.speed(key) if self.network is not None else FULL
            one.advance(self.now)
            one.speed = speed
            one.version += 1
            if one.job.duration != FOREVER:
                self.queue.add(one.end(), EventKind.END, (one, one.version))

    def note_wait(self, entry: QueuedGang) -> None:
        """Write down how long a gang has waited since a failure sent it back."""
        if entry.hit >= 0:
            self.record.gangs[entry.job.name].again += (self.now - entry.hit) * entry.job.size

    def note_place(self, one: Running) -> None:
        """Write down where a gang stands."""
        line = self.record.gangs[one.job.name]
        nodes = _nodes(one.pods)
        fabric = self.cluster.base
        line.leaves = len({fabric.leaf_of[node] for node in nodes})
        line.nodes = len(set(nodes))
        line.crossing = sum(hops(fabric, nodes).values())

    def _expected(self, one: Running) -> float | None:
        """When a policy is told that the gang will end."""
        if one.job.duration == FOREVER:
            return None
        return float(self.now + -(-one.left // FULL))

    def _fewest(self, gang: Gang) -> int:
        """The fewest leaves of any legal place for the gang on the empty fabric; 0 without one."""
        rule = facts_of(self.cluster.base).of_gang(self.options.config.spec, gang, NO_EXTENSIONS)
        return rule.fewest_leaves


def _nodes(pods: Iterable[tuple[str, str]]) -> list[str]:
    return [node for _, node in pods]
