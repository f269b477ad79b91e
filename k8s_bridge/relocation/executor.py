"""Takes every relocation a step further: evicts, lets go of places, says when to bind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    NotFound,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.ledger.permanent_refusal import PermanentRefusals
from fourleaf.k8s_bridge.relocation.ages import PodEnds, RelocationAges
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView, DeadNodes
from fourleaf.k8s_bridge.relocation.evictions.failure_time import FailureTimes, is_of_a_job
from fourleaf.k8s_bridge.relocation.evictions.forbidden import is_forbidden, is_gone
from fourleaf.k8s_bridge.relocation.evictions.lost_ends import LostEnds
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.pod_makers import KnownMakers
from fourleaf.k8s_bridge.relocation.records import (
    PART_ENDED,
    UNWRITTEN,
    VICTIMS_STAY,
    Leaver,
    Purpose,
    Relocation,
)
from fourleaf.k8s_bridge.relocation.reserved_seats import KeptLeaves
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import patiently, together
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.nodes.nodes import ready_status

EVICTION_RETRY_SECONDS = 2.0
"""Seconds after which an eviction that was forbidden, or may have got lost, is asked again."""
EVICTION_PATIENCE_SECONDS = 1.0
"""Seconds for which a step waits for the evictions that it sends; those go on by themselves."""
EVICTION_RETRY_LIMIT_SECONDS = 30.0
"""Seconds to which they grow while it is forbidden."""


class _Eviction:
    """What became of the evictions of one pod: when the next is due on the monotonic clock.

    While one `is_sent` and not answered, there is no other. It `is_new` until it was due once, and
    `is_heard` once the API has it, after its turn has come.
    """

    def __init__(self, clock: Clock) -> None:
        self.due = 0.0
        self.is_new = True
        self.is_sent = False
        self.is_heard = False
        self.backoff = Backoff(clock, 2 * EVICTION_RETRY_SECONDS, EVICTION_RETRY_LIMIT_SECONDS)
        self.refusals = PermanentRefusals(clock)


@dataclass(slots=True, eq=False)
class Executor:
    """Works on the relocations of one term. `cluster` is gated.

    `on_end` hears which one has ended, and why it ended early, "" where it has served.
    """

    cluster: Cluster
    cache: ClusterCache
    store: RelocationStore
    clock: Clock
    observer: RelocationObserver
    trials: EvictionTrials
    nodes: DeadNodes
    on_end: Callable[[Relocation, str], None] | None = None
    ages: RelocationAges = field(init=False)
    ends: PodEnds = field(init=False)
    lost_ends: LostEnds = field(init=False)
    failure_times: FailureTimes = field(init=False)
    kept_leaves: KeptLeaves = field(default_factory=KeptLeaves)
    makers: KnownMakers = field(default_factory=KnownMakers)
    _asked: dict[str, _Eviction] = field(default_factory=dict)
    _looked: dict[GangKey, float] = field(default_factory=dict)
    """When pods were last told to go for a gang, on the monotonic clock."""
    _told: dict[str, tuple[str, str]] = field(default_factory=dict)
    """UIDs of leavers that the API has let go, whatever a watch that lags says of them, and the
    namespaces and UIDs of their controllers."""
    _ending: set[GangKey] = field(default_factory=set)
    """Gangs whose relocation is being deleted, or is to be once a write of it is answered."""
    _doomed: dict[tuple[GangKey, float], str] = field(default_factory=dict)
    """Relocations that are to end, and why, until they have: a delete may fail, or its answer."""
    _telling: set[GangKey] = field(default_factory=set)
    """Gangs for which pods are to go once the API has said that they may."""
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self.ages = RelocationAges(self.clock)
        self.ends = PodEnds(self.cache, self.clock)
        turns, kept = self.trials.turns, self.observer.unended
        self.lost_ends = LostEnds(self.cluster, self.cache, self.clock, turns, kept)
        self.failure_times = FailureTimes(self.cluster)
        self.store.unwritten = self._unwritten

    async def step(self) -> None:
        """One step of each relocation. Raises `Fenced` where another leads by now."""
        view = self.view()
        self._forget(view)
        begun: list[asyncio.Task[None]] = []
        sent: list[asyncio.Task[None]] = []
        for one in view.open:
            if not self.store.holds(one) or self._is_sealed(one):
                continue
            if (doom := self._doomed.get((one.gang, one.opened))) is not None:
                begun += self._begun_to_end(one, doom)
                continue
            found = progress(one, view)
            if found.over:
                # Before it is written, no pod has been asked to go.
                if found.why == VICTIMS_STAY and one.version:
                    self._remember(one, view)
                begun += self._begun_to_end(one, found.why)
            elif self._may_evict(one) and (due := self._due(one, self._first(found.evict))):
                begun += self._begun_to_tell(one, due, view, sent)
            elif found.placed is not None:
                self.cache.changed.set()
        # Once for all of them: a tenant may have many about which the API does not answer.
        await self.store.a_while(begun, EVICTION_PATIENCE_SECONDS)
        await self._patiently(sent)

    async def end_lost(self) -> None:
        """End pods on dead nodes that no kubelet ends, where the config says so.

        Raises `Fenced` where another leads by now.
        """
        if self.lost_ends.due(self.nodes.dead):
            await self.store.check_lead()
            # A node may have been heard again while the API was long in answering.
            due = self.lost_ends.due(self.nodes.dead)
            sent = [self.trials.spawn(self.lost_ends.end(one)) for one in due]
            await self._patiently(sent)

    async def _patiently(self, sent: Sequence[asyncio.Task[None]]) -> None:
        if sent:
            await patiently(sent, self.clock.sleep(EVICTION_PATIENCE_SECONDS))
        for task in sent:
            if task.done():
                # Raises what has ended it.
                await task

    async def end_untold(self) -> None:
        """End preemptions of the leader before, none of whose victims has been told to go.

        What it saw may have changed, so that they are needed no more. Raises `Fenced`.
        """
        view = self.view()
        why = "another leads before any of its victims was told to go"
        begun = [
            task
            for one in view.open
            if one.purpose is Purpose.PREEMPTION and view.is_untold(one)
            for task in self._begun_to_end(one, why)
        ]
        await self.store.a_while(begun, EVICTION_PATIENCE_SECONDS)

    def view(self) -> ClusterView:
        """The cluster now."""
        dead = self.nodes.dead
        now, there = self.clock.wall(), tuple(self.store)
        ages, idle, overdue = self.ages.of(there), self.ages.idle(there), self.ends.overdue(there)
        told, reading = frozenset(self._told), self.cache.reading()
        moved = self.kept_leaves.moved(there, reading.snapshot)
        over = frozenset(one.gang for one in there if (one.gang, one.opened) in self._doomed)
        makers = self.makers.of(there, self.cache.objects, now)
        return ClusterView(
            self.cache, reading, there, dead, now, ages, idle, overdue, told, moved, over, makers
        )

    async def end(self, one: Relocation, why: str) -> None:
        """Keep nothing for it any longer; `why` it ends early, "" where it has served.

        Where the API is long in answering about its record, it ends later: none is evicted for it
        meanwhile.
        """
        await self.store.a_while(self._begun_to_end(one, why), EVICTION_PATIENCE_SECONDS)

    def _begun_to_end(self, one: Relocation, why: str) -> list[asyncio.Task[None]]:
        """Its end, and that of what serves only with it; nothing where it is on its way already."""
        begun = self._begun_to_end_alone(one, why)
        if begun and why and one.purpose is Purpose.DEFRAGMENTATION:
            view = self.view()
            # Where its pods have gone, there is the room that the others are to be in.
            for other in view.open if view.is_untold(one) else ():
                is_part = (other.purpose, other.opened) == (one.purpose, one.opened)
                if is_part and view.is_untold(other):
                    begun += self._begun_to_end_alone(other, f"{PART_ENDED}: {why}")
        return begun

    def _begun_to_end_alone(self, one: Relocation, why: str) -> list[asyncio.Task[None]]:
        now = self.store.of(one.gang)
        if one.gang in self._ending or now is None or now.opened != one.opened:
            return []
        self._doomed.setdefault((one.gang, one.opened), why)
        self._ending.add(one.gang)
        return [self.trials.spawn(self._end(one, why))]

    async def _end(self, one: Relocation, why: str) -> None:
        try:
            if not await self.store.drop(one.gang):
                return
        finally:
            self._ending.discard(one.gang)
        self._doomed.pop((one.gang, one.opened), None)
        self.over(one, why)

    def over(self, one: Relocation, why: str) -> None:
        """Tell that one is over, as `end` does: its record is gone, or that of what follows it."""
        seconds = self.clock.wall() - one.opened
        self._log.info(
            "relocation_over", gang=str(one.gang), purpose=one.purpose, why=why, seconds=seconds
        )
        self.observer.relocated(one, why, seconds)
        if self.on_end is not None:
            self.on_end(one, why)
        self.cache.changed.set()

    def _unwritten(self, one: Relocation) -> None:
        """It keeps its places no longer, as the API refused its record after a while."""
        if self.on_end is not None:
            self.on_end(one, UNWRITTEN)

    def _remember(self, one: Relocation, view: ClusterView) -> None:
        """Remember who has not gone for a preemption: others make room next time.

        Where some were told to go, those alone: those that the API heard of it kept in spite of
        their dry runs.
        """
        there = [leaver for leaver in one.leavers if view.stands(leaver.pod.uid, leaver.node)]
        asked = {leaver: self._asked_for(leaver) for leaver in there}
        begun = [leaver for leaver in there if asked[leaver].is_heard or asked[leaver].is_sent]
        for leaver in begun or there:
            spite = asked[leaver].is_heard
            self.trials.remember(leaver.pod, "the API has not let it go", spite)
            if spite:
                self._remember_kept(one, leaver, "the API has not let it go")
        for leaver in one.leavers:
            seen = view.seen(leaver.pod.uid)
            if seen is not None and leaver.pod.uid in view.overdue:
                self.trials.remember_owner(seen.pod.namespace, seen.controller)

    def _remember_kept(self, one: Relocation, leaver: Leaver, why: str) -> None:
        """Remember the controller of a pod that is kept, where others of it have gone for `one`."""
        owner = self._controller(leaver)
        if any(self._told.get(other.pod.uid) == owner for other in one.leavers):
            self.trials.remember_kept(*owner, why)

    def _controller(self, leaver: Leaver) -> tuple[str, str]:
        """Namespace and UID of the controller of a pod, "" where it has none."""
        seen = self.cache.seen(leaver.pod.uid)
        return leaver.pod.namespace, "" if seen is None else seen.controller

    def _is_sealed(self, one: Relocation) -> bool:
        """Whether a record that cannot be read is about its gang or nodes."""
        ledger = self.store.ledger
        nodes = {leaver.node for leaver in one.leavers}
        return bool(ledger.sealed) and (
            one.gang in ledger.sealed_gangs or not nodes.isdisjoint(ledger.sealed.nodes)
        )

    def _first(self, leavers: Sequence[Leaver]) -> Sequence[Leaver]:
        """Those that the API kept once in spite of a dry run; the others only once these are gone.

        Where it keeps them again, no other has gone for nothing.
        """
        kept = [one for one in leavers if not one.lost and self.trials.was_refused(one.pod)]
        return kept or leavers

    def _due(self, relocation: Relocation, leavers: Sequence[Leaver]) -> list[Leaver]:
        """Who is to be told now; who is told again is so with others: all seats are read before."""
        now = self.clock.monotonic()
        asked = {one.pod.uid: self._asked_for(one) for one in leavers}
        due = [
            one
            for one in leavers
            if asked[one.pod.uid].due <= now and not asked[one.pod.uid].is_sent
        ]
        again = not any(asked[one.pod.uid].is_new for one in due)
        if again and now < self._looked.get(relocation.gang, 0.0) + EVICTION_RETRY_SECONDS:
            return []
        for one in due:
            self._looked[relocation.gang] = now
            asked[one.pod.uid].is_new = False
            asked[one.pod.uid].due = now + EVICTION_RETRY_SECONDS
        return due

    async def _closed_seat(
        self, one: Relocation, due: Sequence[Leaver], view: ClusterView
    ) -> str | None:
        """Why a seat cannot be used as the API itself says, for a watch may lag behind.

        "" where all can, or where only lost pods are to go for them; None where it does not say.
        """
        if all(leaver.lost for leaver in due):
            return ""
        nodes = sorted({seat.node for seat in one.seats if not view.is_taken(seat)})
        try:
            found = await together(self.cluster.get(NODES, Target("", node)) for node in nodes)
        except NotFound as error:
            return str(error)
        except ClusterError:
            return None
        closed = (node for node, body in zip(nodes, found, strict=True) if _is_closed(body))
        return next((f"node {node} takes no new pods" for node in closed), "")

    def _may_evict(self, one: Relocation) -> bool:
        """Whether its record stands for sure, and the API is not being asked about its pods."""
        return one.gang not in self._telling and self._is_wanted(one)

    def _is_wanted(self, one: Relocation) -> bool:
        return (one.gang, one.opened) not in self._doomed and self.store.may_evict(one)

    def _begun_to_tell(
        self,
        one: Relocation,
        due: Sequence[Leaver],
        view: ClusterView,
        sent: list[asyncio.Task[None]],
    ) -> list[asyncio.Task[None]]:
        self._telling.add(one.gang)
        return [self.trials.spawn(self._tell(one, due, view, sent))]

    async def _tell(
        self,
        one: Relocation,
        due: Sequence[Leaver],
        view: ClusterView,
        sent: list[asyncio.Task[None]],
    ) -> None:
        """Have those go that are `due`, once the API has said that they may; adds to `sent`."""
        try:
            await self.store.check_lead()
            closed = await self._closed_seat(one, due, view)
        finally:
            self._telling.discard(one.gang)
        if closed:
            await self.end(one, closed)
        elif closed is not None and self._may_evict(one):
            # Much may have changed while the API answered: who is gone needs no room, and who has
            # lost its place is not to leave the one that it has.
            still = progress(one, self.view()).evict
            sent += [self._sent(one, leaver) for leaver in due if leaver in still]

    def _sent(self, one: Relocation, leaver: Leaver) -> asyncio.Task[None]:
        """The eviction of a leaver, on its way."""
        self._asked_for(leaver).is_sent = True
        return self.trials.spawn(self._evict(one, leaver))

    def _asked_for(self, leaver: Leaver) -> _Eviction:
        return self._asked.setdefault(leaver.pod.uid, _Eviction(self.clock))

    async def _evict(self, one: Relocation, leaver: Leaver) -> None:
        try:
            async with self.trials.turns.turn(leaver.pod.namespace):
                # While it waited, its relocation may have ended, as its node was heard again.
                if self._is_wanted(one):
                    await self._send(one, leaver)
        finally:
            self._asked_for(leaver).is_sent = False

    async def _send(self, one: Relocation, leaver: Leaver) -> None:
        self._asked_for(leaver).is_heard = True
        controller = self._controller(leaver)
        try:
            await self.cluster.evict(leaver.pod, at_once=self._ends_at_once(leaver))
        except ClusterError as error:
            if is_gone(error):
                self._asked_for(leaver).refusals.interrupted()
            else:
                await self._forbidden(one, leaver, error)
        else:
            self._told[leaver.pod.uid] = controller
            self.ages.told(one)
            self._log.info("evicted", pod=str(leaver.pod), gang=str(one.gang), why=one.why)
            self.observer.evicted(one, leaver)
            await self._tell_failure(leaver)

    async def _tell_failure(self, leaver: Leaver) -> None:
        """Tell the Job controller when a lost pod has failed, for it makes no other before."""
        silence = self.nodes.silent_for(leaver.node) if leaver.lost else None
        pods = self.cache.objects.get(PODS, {})
        body = pods.get((leaver.pod.namespace, leaver.pod.name))
        if silence is not None and body is not None and is_of_a_job(body):
            await self.failure_times.tell(leaver, self.clock.wall() - silence)

    def _ends_at_once(self, leaver: Leaver) -> bool:
        return leaver.lost and self.cache.config.spec.repair.end_lost_pods_at_once

    async def _forbidden(self, one: Relocation, leaver: Leaver, error: ClusterError) -> None:
        """Ask again later and later, and for no pod that lives once that is refused for good."""
        asked, why = self._asked_for(leaver), str(error)
        self._log.warning("not_evicted", pod=str(leaver.pod), why=why)
        self.observer.forbidden(one, leaver, why)
        wait = asked.backoff.next(max(EVICTION_RETRY_SECONDS, error.retry_after or 0.0))
        asked.due = self.clock.monotonic() + wait
        if isinstance(error, Throttled | Ambiguous):
            if is_forbidden(error):
                # A budget is asked once admission has let the request in.
                asked.refusals.interrupted()
            else:
                asked.refusals.unsaid(error)
        elif asked.refusals.for_good(error) and not leaver.lost:
            self.trials.remember(leaver.pod, why, spite=True)
            self._remember_kept(one, leaver, why)
            await self.end(one, f"{leaver.pod} may not be evicted: {why}")

    def _forget(self, view: ClusterView) -> None:
        known = {leaver.pod.uid for one in view.open for leaver in one.leavers}
        self._asked = {uid: one for uid, one in self._asked.items() if uid in known}
        self._told = {uid: owner for uid, owner in self._told.items() if uid in known}
        there = {(one.gang, one.opened) for one in view.open}
        # One whose record was long in being written is let go, and stands again once it is.
        there |= {key for key in self._doomed if key[0] in self._ending}
        self._doomed = {key: why for key, why in self._doomed.items() if key in there}
        self._looked = {gang: at for gang, at in self._looked.items() if gang in self.store}


def _is_closed(node: Body) -> bool:
    """Whether a node is cordoned, or not ready."""
    spec = node.get("spec") or {}
    return bool(spec.get("unschedulable")) or ready_status(node) != "True"
