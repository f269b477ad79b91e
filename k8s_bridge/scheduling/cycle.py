"""The scheduling cycle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.ledger.commit import CommitOutcome, CommitRequest, Committer, Rejected
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.pods import is_bound, is_gone
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.k8s_bridge.scheduling.holds.rollbacks import held, returning
from fourleaf.k8s_bridge.scheduling.holds.unreadable import free_of_seals, unsealed
from fourleaf.k8s_bridge.scheduling.revalidate import Kept, Revalidated, revalidate
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.readers.live import LiveReading
from fourleaf.model.snapshot import Snapshot

Solve = Callable[[Snapshot], Awaitable[Plan]]


NOTHING = CommitOutcome((), ())


@dataclass(frozen=True, slots=True)
class CycleReport:
    """One cycle: what was read, planned, committed; seconds by phase.

    `late` are gangs for which the plan came too late, `dropped` those whose commit did not
    take; both are planned again, those that the API refused after a while.
    """

    number: int
    reading: LiveReading
    plan: Plan | None
    late: tuple[Rejected, ...] = ()
    outcome: CommitOutcome = NOTHING
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def again(self) -> bool:
        """Whether something is to be planned again without waiting for a change."""
        return bool(self.late or any(one.conflict for one in self.outcome.dropped))


class CycleObserver(Protocol):
    """Hears of every cycle, and tells others."""

    def cycle_begins(self) -> None:
        """A cycle starts."""
        ...

    def committing(self, plan: tuple[CommitRequest, ...]) -> None:
        """These gangs are about to be committed."""
        ...

    def cycle(self, report: CycleReport) -> None:
        """A cycle has ended."""
        ...


class Reservations(Protocol):
    """Keeps places for members that have yet to come, and says who has."""

    def charged(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` as a cycle may plan it: without the places that are kept."""
        ...

    def backfill(self, snapshot: Snapshot, plan: Plan, /) -> Snapshot | None:
        """What is to be solved again for gangs that end before kept places are needed."""
        ...

    def kept(self) -> Kept:
        """Those places, by the gang that they are kept for."""
        ...

    def placements(self) -> list[Placement]:
        """Members to bind to the places kept for them."""
        ...

    async def committed(self, gangs: Sequence[GangKey]) -> None:
        """These gangs have been committed."""
        ...

    def heard(self, reading: LiveReading, plan: Plan | None) -> None:
        """What a cycle has found."""
        ...


class NoReservations:
    """A keeper without places."""

    def charged(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` itself."""
        return snapshot

    def backfill(self, _snapshot: Snapshot, _plan: Plan) -> Snapshot | None:
        """Nothing."""
        return None

    def kept(self) -> Kept:
        """Nothing."""
        return {}

    def placements(self) -> list[Placement]:
        """Nothing."""
        return []

    async def committed(self, gangs: Sequence[GangKey]) -> None:
        """Leave it at that."""

    def heard(self, reading: LiveReading, plan: Plan | None) -> None:
        """Leave it at that."""


@dataclass(slots=True, eq=False)
class Cycle:
    """Plans what waits and commits it. One cycle at a time, by the leader alone."""

    observed: ClusterCache
    book: Ledger
    committer: Committer
    solve: Solve
    teller: CycleObserver
    clock: Clock
    refusals: ApiBackoff
    keeper: Reservations = field(default_factory=NoReservations)
    _number: int = 0
    _assumed: dict[str, Member] = field(default_factory=dict)

    async def run(self) -> CycleReport:
        """Run one cycle. Raises `Fenced` or `NotLeader` where another leads by now."""
        watch = _Watch(self.clock)
        self.teller.cycle_begins()
        self._count_own_commits()
        reading = self.observed.reading()
        watch.lap("observe")
        plan = await self._planned(reading.snapshot)
        watch.lap("solve")
        wanted = self._still_wanted(plan, reading.snapshot)
        self.teller.committing(wanted.wanted)
        watch.lap("check")
        outcome = await self.committer.commit(wanted.wanted)
        watch.lap("commit")
        self._note_refusals(outcome)
        await self.keeper.committed(_taken(wanted.wanted, outcome))
        self.keeper.heard(reading, plan)
        self._number += 1
        report = CycleReport(self._number, reading, plan, wanted.late, outcome, watch.laps)
        self.teller.cycle(report)
        return report

    def forget(self) -> None:
        """The term is over: whoever was on the way counts as what is seen of it again."""
        for member in self._assumed.values():
            self.observed.release(member)
        self._assumed = {}

    async def _planned(self, snapshot: Snapshot) -> Plan | None:
        if not snapshot.gangs:
            return None
        # Both before anybody waits: what is kept, and for whom, changes meanwhile.
        seated = free_of_seals(self.keeper.placements(), self.book)
        open_to_all = unsealed(self.refusals.held(snapshot), self.book)
        free = self.keeper.charged(held(open_to_all, returning(self.book)))
        plan = await self.solve(free)
        more = self.keeper.backfill(free, plan)
        if more is not None:
            plan = joined(plan, await self.solve(more))
        return replace(plan, placements=(*plan.placements, *seated))

    def _still_wanted(self, plan: Plan | None, snapshot: Snapshot) -> Revalidated:
        if plan is None or not plan.placements:
            return Revalidated((), ())
        return revalidate(plan, snapshot, self.observed, self.book, self.keeper.kept())

    def _note_refusals(self, outcome: CommitOutcome) -> None:
        for one in outcome.dropped:
            if not one.conflict:
                self.refusals.note(one.gang, one.why)

    def _count_own_commits(self) -> None:
        """Let members that are on their way count as standing where they go."""
        on_their_way = {
            member.pod.uid: member
            for commit in self.book.open_commits()
            if commit.phase is not None
            for member in commit.members
            if not is_gone(self.observed, member) and not is_bound(self.observed, member)
        }
        for uid, member in self._assumed.items():
            if uid not in on_their_way and not is_bound(self.observed, member):
                self.observed.release(member)
        for uid, member in on_their_way.items():
            if self._assumed.get(uid) != member:
                self.observed.assume(member)
        self._assumed = on_their_way


def _taken(wanted: Sequence[CommitRequest], outcome: CommitOutcome) -> list[GangKey]:
    lost = {one.gang for one in outcome.dropped}
    return [one.gang for one in wanted if one.gang not in lost]


def joined(plan: Plan, more: Plan) -> Plan:
    """`plan`, and the placements of `more` for gangs that waited in it."""
    placed = {placement.gang for placement in more.placements}
    return replace(
        plan,
        placements=(*plan.placements, *more.placements),
        waiting=tuple(one for one in plan.waiting if one.gang not in placed),
    )


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
