"""The scheduling cycle: snapshot, holds, solve, revalidation, commit, back-off, report."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fourleaf.k8s_bridge.cache.catch_up import catch_up
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.ledger.binding_trials import Spawn
from fourleaf.k8s_bridge.ledger.commit import CommitOutcome, CommitRequest, Committer, Rejected
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.pods import is_bound, is_gone
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import patiently
from fourleaf.k8s_bridge.scheduling.holds import (
    being_seated,
    claims_on_their_way,
    rollbacks,
    unanswered,
    unreadable,
)
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.k8s_bridge.scheduling.holds.held_gangs import HeldGangs
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule, hold_back
from fourleaf.k8s_bridge.scheduling.holds.solver_time import SolveTime
from fourleaf.k8s_bridge.scheduling.revalidate import Kept, Revalidated, revalidate
from fourleaf.k8s_bridge.scheduling.set_aside import SetAside
from fourleaf.k8s_bridge.scheduling.silent_nodes import SilentNodes
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.readers.live import LiveReading
from fourleaf.model.snapshot import Snapshot

Solve = Callable[[Snapshot], Awaitable[Plan]]


NOTHING = CommitOutcome((), ())

COMMIT_PATIENCE_SECONDS = 0.1
"""Seconds for which a cycle waits for its commits; those that take longer go on beside the next."""

SEATS_PATIENCE_SECONDS = 2.0
"""The same where places were kept for gangs: until these have them, no other gang may use them."""

OWN_ROOM_SOLVES = 2
"""Solves of one cycle for gangs that their own kept places keep out; the next one goes on."""

TURNS_FOR_BINDINGS = 8
"""Turns of the event loop in which bindings are sent, through the gate and to a connection."""


@dataclass(frozen=True, slots=True)
class CycleReport:
    """One cycle: what was read, planned, committed; seconds by phase.

    `late` are gangs for which the plan came too late; they are planned again, and so are those
    whose commit did not take, where the API refused it after a while. Of commits that go on beside
    the cycles to come, `outcome` has what is certain by now, and a later report which were `lost`.
    `left_out`: there are gangs that the batch had no room for, and that have it now that others
    were set aside.
    """

    number: int
    reading: LiveReading
    plan: Plan | None
    late: tuple[Rejected, ...] = ()
    outcome: CommitOutcome = NOTHING
    lost: tuple[Rejected, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: bool = False

    @property
    def again(self) -> bool:
        """Whether something is to be planned again without waiting for a change.

        Where a commit did not take, its room is there for others.
        """
        return bool(self.late or self.outcome.rejected or self.left_out)


class CycleObserver(Protocol):
    """Observes every cycle."""

    def cycle_begins(self) -> None:
        """A cycle starts."""

    def committing(self, plan: tuple[CommitRequest, ...], snapshot: Snapshot) -> None:
        """These gangs of `snapshot` are about to be committed."""

    def cycle(self, report: CycleReport) -> None:
        """A cycle has ended."""


class Reservations(Protocol):
    """Keeps places for members that have yet to come, and says who has."""

    async def repair_first(self) -> None:
        """Let gangs that have lost members take room that has come, before others do."""

    def charge(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` with the places that are kept as used."""

    def rule(self) -> HoldRule | None:
        """Hold the gangs that places are kept for."""

    def backfill(self, snapshot: Snapshot, plan: Plan, /) -> Snapshot | None:
        """What is to be solved again for gangs that end before kept places are needed."""

    def own_room(
        self, snapshot: Snapshot, plan: Plan, asked: Container[GangKey], /
    ) -> Snapshot | None:
        """What is to be solved again for a gang, not `asked` for yet, that its own places keep out.

        They take the room that it would have beside them, or the quota of its namespace.
        """

    def kept(self) -> Kept:
        """Those places, by the gang that they are kept for."""

    def placements(self, seating: Container[GangKey], /) -> list[Placement]:
        """Members to bind to the places kept for them, but for those of the gangs `seating`."""

    def keeps_for(self, gang: GangKey) -> bool:
        """Whether places are kept for this gang of the plan."""

    def keeps_there(self, gang: GangKey, nodes: Iterable[str]) -> bool:
        """Whether these are the places: one that they were reserved for may start elsewhere."""

    async def committed(self, gangs: Sequence[GangKey]) -> None:
        """These gangs have been committed."""

    def heard(self, reading: LiveReading, plan: Plan | None) -> None:
        """What a cycle has found."""

    def told(self, plan: Plan) -> Plan:
        """The same plan, with what else is known of why gangs wait."""


@dataclass(slots=True, eq=False)
class Cycle:
    """Plans what waits and commits it. One cycle at a time, by the leader alone.

    `spawn` starts what may go on after a cycle and ends with the term; without it, each cycle
    waits until all its commits have ended.
    """

    cache: ClusterCache
    ledger: Ledger
    committer: Committer
    solve: Solve
    observer: CycleObserver
    clock: Clock
    api_backoff: ApiBackoff
    silent_nodes: SilentNodes
    reservations: Reservations | None = None
    solver_time: SolveTime = field(default_factory=SolveTime)
    dead: Callable[[], frozenset[str]] = frozenset
    spawn: Spawn | None = None
    set_aside: SetAside = field(default_factory=SetAside)
    held_gangs: HeldGangs = field(default_factory=HeldGangs)
    _left_out: bool = False
    _asked: set[GangKey] = field(default_factory=set)
    """Gangs that were looked for beside what is kept for them, while others are to be."""
    _number: int = 0
    _assumed: dict[str, Member] = field(default_factory=dict)
    _lost: list[Rejected] = field(default_factory=list)
    _seating: set[GangKey] = field(default_factory=set)
    """Gangs that are being committed to places kept for them: these are kept until that is over."""
    is_committing: bool = False

    async def run(self) -> CycleReport:
        """Run one cycle. Raises `Fenced` or `NotLeader` where another leads by now."""
        watch = _Watch(self.clock)
        self.observer.cycle_begins()
        # 1 Snapshot: members on their way count as standing where they are going.
        self._assume_on_their_way()
        if self.reservations is not None:
            await self.reservations.repair_first()
            # That may take a while, in which some were bound and others were taken back.
            self._assume_on_their_way()
        reading = await self._reading()
        watch.lap("observe")
        # 2 Hold back what may not be planned now, and 3 solve the rest.
        plan = await self._planned(reading)
        watch.lap("solve")
        # 4 Revalidate: the cluster went on while the solver worked.
        checked = self._revalidated(plan, reading.snapshot)
        self.observer.committing(checked.requests, reading.snapshot)
        watch.lap("check")
        # 5 Commit, all or nothing for each gang; see what became of earlier commits.
        self.is_committing = True
        try:
            outcome = await self._commit(checked.requests)
        finally:
            self.is_committing = False
        # Who looks at the cluster before the next cycle sees their places as taken.
        self._assume_on_their_way()
        lost, self._lost = tuple(self._lost), []
        watch.lap("commit")
        # 6 Tell those who keep places and who look after gangs that wait.
        self._heard(reading, plan)
        # 7 Report, once the bindings are on their way: a long queue takes a while to be told.
        self._number += 1
        report = CycleReport(
            self._number,
            reading,
            self.reservations.told(plan) if self.reservations and plan else plan,
            checked.late,
            outcome,
            lost,
            watch.laps,
            self._left_out,
        )
        try:
            for _ in range(TURNS_FOR_BINDINGS):
                await asyncio.sleep(0)
        finally:
            self.observer.cycle(report)
        return report

    def returning(self) -> frozenset[GangKey]:
        """The gangs that wait until their members have been taken back."""
        return rollbacks.returning(self.ledger, self.cache, self.dead())

    def forget(self) -> None:
        """The term is over: members on their way count as what is seen of them again."""
        for member in self._assumed.values():
            self.cache.forget(member)
        self._assumed = {}

    async def _reading(self) -> LiveReading:
        """Read what has changed, and let others have the event loop where that is much.

        Of more than that, some is planned later, as if the watch had told it later.
        """
        await catch_up(self.cache, self.clock)
        return self.cache.reading()

    async def _planned(self, reading: LiveReading) -> Plan | None:
        self._left_out = False
        if not reading.snapshot.gangs:
            return None
        # Before the solve: what is kept, and for which gang, changes meanwhile.
        kept = self.reservations
        seated = self._to_seat(kept) if kept else []
        free = self._held_back(reading)
        able, held = self.held_gangs.apart(self.silent_nodes.kept_off(free))
        batch, aside = self.set_aside.without(able)
        plan = self.set_aside.fruitless(batch)
        if plan is None:
            plan = await self._solved(batch, free)
            self._left_out = self.set_aside.note(batch, plan)
        plan = replace(plan, waiting=(*plan.waiting, *aside, *held))
        again = self.silent_nodes.not_elsewhere(free, plan)
        if again is not None:
            plan = amended(plan, await self._solved(again, free))
        more = kept.backfill(free, plan) if kept else None
        if more is not None:
            plan = joined(plan, (await self._solved(more, free)).placements)
        if kept is not None:
            plan = await self._within_own_room(kept, free, plan)
        return joined(plan, seated)

    async def _within_own_room(self, kept: Reservations, free: Snapshot, plan: Plan) -> Plan:
        """Look once more for gangs that what is kept for them keeps out: a few in each cycle."""
        for _ in range(OWN_ROOM_SOLVES):
            more = kept.own_room(free, plan, self._asked)
            if more is None:
                break
            self._asked.update(gang.key for gang in more.gangs)
            plan = amended(plan, await self._solved(more, free))
        if kept.own_room(free, plan, self._asked) is not None:
            self._left_out = True
        else:
            self._asked.clear()
        return plan

    def _to_seat(self, kept: Reservations) -> list[Placement]:
        """Members to bind to places kept for them, without those that are being committed."""
        found = unreadable.readable(kept.placements(self._seating), self.ledger)
        return [
            placement
            for placement in found
            if placement.gang not in self._seating and not self.api_backoff.rests(placement.gang)
            if self.cache.hung_nodes.isdisjoint(node for _, node in placement.pods)
        ]

    def _held_back(self, reading: LiveReading) -> Snapshot:
        kept, snapshot = self.reservations, reading.snapshot
        rules = (
            self.api_backoff.rule(),
            unreadable.rule(self.ledger),
            unanswered.rule(self.committer.trials.pending()),
            rollbacks.rule(self.returning()),
            claims_on_their_way.rule(self.ledger, reading.gangs),
            kept.rule() if kept else None,
            being_seated.rule(self._seating),
        )
        return hold_back(kept.charge(snapshot) if kept else snapshot, rules)

    async def _solved(self, snapshot: Snapshot, everyone: Snapshot) -> Plan:
        """Solve, without the gangs of namespaces that have used up their solver time.

        `everyone`: with the gangs on hold, which share the solver as soon as they are not.
        """
        if not snapshot.gangs:
            return Plan(PlanStatus.OPTIMAL, (), ())
        began = self.clock.monotonic()
        allowed = hold_back(snapshot, [self.solver_time.rule(began, everyone)])
        plan = await self.solve(allowed)
        ended = self.clock.monotonic()
        self.solver_time.charge(ended, allowed, ended - began)
        return plan

    def _revalidated(self, plan: Plan | None, snapshot: Snapshot) -> Revalidated:
        if plan is None or not plan.placements:
            return Revalidated((), ())
        kept = self.reservations.kept() if self.reservations else {}
        return revalidate(plan, snapshot, self.cache, self.ledger, kept)

    async def _commit(self, requests: Sequence[CommitRequest]) -> CommitOutcome:
        """Commit, and say what is certain so far; what takes long goes on beside the next cycles.

        Places that were kept are waited for longer, and by themselves: a record of another gang
        that is long in writing does not keep them.
        """
        if not requests:
            return NOTHING
        kept = self.reservations
        if self.spawn is None:
            outcome = await self.committer.commit(requests, self._refused)
            if kept is not None:
                lost = {one.gang for one in outcome.rejected}
                await kept.committed([one.gang for one in requests if one.gang not in lost])
            return outcome
        seated = [one for one in requests if kept is not None and kept.keeps_for(one.gang)]
        self._seating |= {one.gang for one in seated}
        others = [one for one in requests if one.gang not in self._seating]
        one = _Committing()
        tasks = [self.spawn(self._commit_beside(one, batch)) for batch in (others, seated) if batch]
        await patiently(tasks, self.clock.sleep(COMMIT_PATIENCE_SECONDS))
        if seated and not tasks[-1].done():
            # Who looks at the cluster meanwhile sees the places of the others as taken.
            self._assume_on_their_way()
            await patiently(tasks[-1:], self.clock.sleep(SEATS_PATIENCE_SECONDS))
        done = [task.done() for task in tasks]
        for task in tasks:
            if task.done():
                # Raises what has ended it.
                await task
        one.is_late = True
        return CommitOutcome(tuple(one.committed), tuple(one.rejected), not all(done))

    async def _commit_beside(self, one: _Committing, requests: Sequence[CommitRequest]) -> None:
        def lost(gang: Rejected) -> None:
            self._seating.discard(gang.gang)
            self._refused(gang)
            if one.is_late:
                self._lost.append(gang)
                self.cache.changed.set()
            else:
                one.rejected.append(gang)

        seated: list[asyncio.Task[None]] = []

        def took(gang: GangKey) -> None:
            if gang in self._seating and self.spawn is not None:
                seated.append(self.spawn(self._seated(gang)))

        outcome = await self.committer.commit(requests, lost, took)
        one.committed.extend(outcome.committed)
        for task in seated:
            await task

    async def _seated(self, gang: GangKey) -> None:
        """Let the places go that were kept for a gang: it has them by now."""
        try:
            if self.reservations is not None:
                await self.reservations.committed([gang])
        finally:
            self._seating.discard(gang)
            # What was kept for it counts no more.
            self._assume_on_their_way()

    def _refused(self, one: Rejected) -> None:
        """Back off from what the API refused."""
        if not one.conflict:
            self.api_backoff.note(one.gang, one.why)

    def _heard(self, reading: LiveReading, plan: Plan | None) -> None:
        if plan is not None:
            self.cache.not_placed(plan.waiting)
        if self.reservations is not None:
            self.reservations.heard(reading, plan)

    def _assume_on_their_way(self) -> None:
        """Let members that are on their way count as standing where they go."""
        on_their_way = {
            member.pod.uid: member
            for commit in self.ledger.on_their_way()
            if not self._is_being_seated(commit)
            for member in commit.members
            if not is_gone(self.cache, member) and not is_bound(self.cache, member)
        }
        for uid, member in self._assumed.items():
            if uid not in on_their_way and not is_bound(self.cache, member):
                self.cache.forget(member)
        for uid, member in on_their_way.items():
            if self._assumed.get(uid) != member:
                self.cache.assume(member)
        self._assumed = on_their_way

    @property
    def has_come_back(self) -> bool:
        """Whether a member that counts as standing where it was to go waits again."""
        if not self._assumed:
            return False
        commits = self.ledger.on_their_way()
        left = {member.pod.uid for commit in commits for member in commit.members}
        return any(
            uid not in left and not is_gone(self.cache, member) and not is_bound(self.cache, member)
            for uid, member in self._assumed.items()
        )

    def places_freed(self) -> None:
        """Places are kept no longer: who is being bound to them counts as standing there."""
        self._assume_on_their_way()
        self.cache.changed.set()

    def _is_being_seated(self, commit: Commit) -> bool:
        """Whether places are kept for it that it would take up once more if it stood there."""
        kept, nodes = self.reservations, (member.node for member in commit.members)
        return (
            commit.gang in self._seating
            and kept is not None
            and kept.keeps_there(commit.gang, nodes)
        )


def joined(plan: Plan, more: Sequence[Placement]) -> Plan:
    """`plan`, and more placements, of gangs that waited in it."""
    if not more:
        return plan
    placed = {placement.gang for placement in more}
    return replace(
        plan,
        placements=(*plan.placements, *more),
        waiting=tuple(one for one in plan.waiting if one.gang not in placed),
    )


@dataclass(slots=True, eq=False)
class _Committing:
    """The commits of one cycle: what is certain of them, and whether that is too late for it."""

    committed: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    is_late: bool = False


class _Watch:
    """Seconds from lap to lap."""

    def __init__(self, clock: Clock) -> None:
        self.laps: dict[str, float] = {}
        self._clock = clock
        self._last = clock.monotonic()

    def lap(self, name: str) -> None:
        """Note the seconds since the last lap under `name`."""
        now = self._clock.monotonic()
        self.laps[name] = now - self._last
        self._last = now


def amended(plan: Plan, second: Plan) -> Plan:
    """`plan`, with what `second` says of gangs that waited in it."""
    anew = {one.gang: one for one in second.waiting}
    plan = joined(plan, second.placements)
    return replace(plan, waiting=tuple(anew.get(one.gang, one) for one in plan.waiting))
