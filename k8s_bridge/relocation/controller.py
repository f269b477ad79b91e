"""All that happens to gangs that stand, step by step, for as long as a term lasts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, Spawn
from fourleaf.k8s_bridge.ledger.compaction import being_bound
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.relocation.backfill import backfill
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView, DeadNodes
from fourleaf.k8s_bridge.relocation.contention import (
    STUCK_REASONS,
    beyond_quota,
    crowded_gangs,
)
from fourleaf.k8s_bridge.relocation.defragmentation import DefragmentationPlanner
from fourleaf.k8s_bridge.relocation.evictions.drain_marks import draining
from fourleaf.k8s_bridge.relocation.evictions.dry_run import EvictionDryRun
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.executor import Executor
from fourleaf.k8s_bridge.relocation.move_budget import MoveBudget
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.own_room import within_own_room
from fourleaf.k8s_bridge.relocation.preemption import PreemptionPlanner
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.relocation.repair import RepairPlanner
from fourleaf.k8s_bridge.relocation.reservation import ReservationPlanner
from fourleaf.k8s_bridge.relocation.reserved_seats import charge, kept, placements, rule
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import CausedEvictions
from fourleaf.k8s_bridge.relocation.tenants.overstays import Overstays
from fourleaf.k8s_bridge.relocation.tenants.quota_turns import QuotaTurns
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import patiently, together
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.k8s_bridge.scheduling.revalidate import Kept
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.readers.live import LiveReading
from fourleaf.model.snapshot import Snapshot

STEP_SECONDS = 0.25
"""Seconds between two steps."""
FAILURE_SETTLE_SECONDS = 1.0
"""Seconds for which repairs wait after a node was found dead: others may be found with it."""
FAILURE_SETTLE_LIMIT_SECONDS = 3.0
"""Seconds for which they wait at most."""
CONTENTION_CHECK_SECONDS = 1.0
"""Seconds between two looks for gangs that might preempt others, or have a place reserved: to read
all that runs takes a while in a large cluster."""
OUTDATED_PLAN_LIMIT_SECONDS = 2.0
"""Seconds for which evictions wait at most for a newer plan: something may change all the time."""
REPAIR_FIRST_SECONDS = 1.0
"""Seconds for which a cycle waits at most for a repair that may need the room that has come."""
SWEEP_SECONDS = 30.0
"""Seconds between two looks for relocations that the store does not know."""


@dataclass(slots=True, eq=False)
class RelocationController:
    """Repairs, preemptions, defragmentations and what is under way of them, in one term.

    `spawn` starts what ends with the term. `asked_at` returns when a defragmentation was asked for,
    or "".
    """

    cluster: Cluster
    cache: ClusterCache
    ledger: Ledger
    store: RelocationStore
    nodes: DeadNodes
    planner: Planner
    clock: Clock
    observer: RelocationObserver
    moves: MoveBudget
    caused: CausedEvictions
    spawn: Spawn
    asked_at: Callable[[], str] | None = None
    trials: BindingTrials | None = None
    executor: Executor = field(init=False)
    overstays: Overstays = field(init=False)
    turns: QuotaTurns = field(init=False)
    repair: RepairPlanner = field(init=False)
    preemption: PreemptionPlanner = field(init=False)
    reservation: ReservationPlanner = field(init=False)
    defragmentation: DefragmentationPlanner = field(init=False)
    _last: Plan | None = None
    _seated: dict[GangKey, GangKey] = field(default_factory=dict)
    """Gang of the plan that is bound to kept places, or about to be -> gang of the relocation."""
    _offered: frozenset[GangKey] = frozenset()
    """The gangs that this cycle may place in kept room, and nowhere else."""
    _crowded: bool = False
    _is_over_quota: bool = False
    """Whether gangs wait for the quota of their namespace."""
    _is_planning: bool = False
    _outdated_since: float | None = None
    _next_look: float = 0.0
    _stuck: frozenset[GangKey] = frozenset()
    _unsettled_since: float | None = None
    _last_died: float = float("-inf")
    _planning: asyncio.Lock = field(default_factory=asyncio.Lock)
    _sweep: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        shared = (self.cache, self.store, self.planner, self.clock)
        dry_run = EvictionDryRun(self.cluster, self.clock)
        evictions = EvictionTrials(dry_run, self.cache, self.clock, self.observer, self.spawn)
        self.executor = Executor(
            self.cluster,
            self.cache,
            self.store,
            self.clock,
            self.observer,
            evictions,
            self.nodes,
        )
        self.overstays = Overstays(self.clock)
        self.turns = QuotaTurns(self.cache, self.clock, self.overstays.is_barred)
        self.repair = RepairPlanner(
            *shared,
            self.observer,
            evictions,
            self.caused,
            self.executor.end,
            self.executor.over,
            self.trials,
        )
        self.preemption = PreemptionPlanner(
            *shared,
            self.observer,
            evictions,
            self.executor.end,
            self.overstays,
            self.caused,
            self.trials,
        )
        self.reservation = ReservationPlanner(*shared, self.executor.end)
        self.executor.on_end = self._ended
        self.defragmentation = DefragmentationPlanner(
            *shared,
            self.executor.end,
            evictions,
            self.moves,
            self.caused,
            self.asked_at,
            self.trials,
        )

    async def run(self) -> None:
        """Step after step, until cancelled. Raises `Fenced` where another leads by now."""
        self.preemption.ending.listen()
        try:
            await self._run()
        finally:
            self.preemption.ending.mute()

    async def _run(self) -> None:
        swept = self.clock.monotonic()
        await self.executor.end_untold()
        while True:
            is_over = self._sweep is None or self._sweep.done()
            if is_over and self.clock.monotonic() - swept >= SWEEP_SECONDS:
                swept = self.clock.monotonic()
                # Beside the steps: the API may be long in listing.
                self._sweep = self.spawn(self.store.sweep())
            await self.store.convert()
            await self.step()
            await self.clock.sleep(STEP_SECONDS)

    async def keep(self) -> None:
        """Save what relocations have cost, until cancelled.

        Beside all steps: a Lease about which the API does not answer makes no repair late.
        """
        while True:
            await together([self.caused.keep(), self.moves.keep()])
            await self.clock.sleep(STEP_SECONDS)

    async def step(self) -> None:
        """One step of all that is under way, and at most one plan of each sort.

        Mostly there is nothing to do, and then nothing is looked at that takes time.
        """
        self.defragmentation.hear()
        # 1 Take every relocation under way a step further.
        if self.caused.is_limited and (self._is_wanted() or self._stuck or len(self.store)):
            await self.caused.load()
        if len(self.store):
            await self.executor.step()
        await self.executor.end_lost()
        window = self.cache.config.spec.preemption.window_seconds
        self.preemption.brief_stays.hear(self.store, self.nodes.dead, window)
        # 2 Nodes that fail together are repaired together: wait until no more of them fail.
        if not self._has_settled():
            return
        # 3 Repair gangs that lost members.
        await self._repair()
        # One plan at a time: a cycle may have asked for a repair, which would take the same room.
        async with self._planning:
            # 4 Preempt for gangs that only others keep out, or keep room for them.
            await self._contend()
            # 5 Defragment, where nothing else is under way.
            await self._defragment()

    def _is_wanted(self) -> bool:
        """Whether gangs may be there that only others keep out."""
        return self._crowded or self._is_over_quota or bool(self.repair.stranded)

    async def _contend(self) -> None:
        last, now = self._last, self.clock.monotonic()
        is_outdated = self._is_outdated(now)
        is_short = self._is_over_quota or self.turns.are_on
        is_wanted = self._is_wanted() or is_short
        is_of_use = is_wanted or len(self.store)
        is_blind = last is None and not self.repair.stranded
        if not is_of_use or is_blind or now < self._next_look or is_outdated:
            return
        self._next_look = now + CONTENTION_CHECK_SECONDS
        await self.preemption.end_needless(self._view(), self.repair.lost)
        await self.reservation.end_unwanted()
        if is_wanted:
            view = self._view()
            self.overstays.look(view)
            if is_short and last is not None and self.turns.look(view, last):
                self.cache.changed.set()
            await self.preemption.plan(view, last, self._busy(), self.repair.stranded)
        if self._crowded and last is not None:
            await self.reservation.plan(self._view(), last)

    async def _defragment(self) -> None:
        under_way = any(one.purpose is not Purpose.RESERVATION for one in self.store)
        # What gathers beside nodes that are back any moment may gather in vain.
        is_free = not under_way and not self._busy() and not self.cache.hung_nodes
        if not is_free or not self.defragmentation.is_time():
            return
        # Before the view is made: what it shows and who stands have to be of one moment.
        await self.moves.load()
        await self.caused.load()
        await self.defragmentation.plan(self._view())

    async def repair_first(self) -> None:
        """Let gangs that have lost members take room that has come, before a cycle does.

        They hold what is left of their places to no use; who is new holds nothing. A cycle waits
        for that for a second at most.
        """
        settles = self._unsettled_since is not None or self.nodes.died.is_set()
        if settles or not self.repair.hasten(self.cache.reading().snapshot):
            return
        task = self.spawn(self._repair())
        await patiently([task], self.clock.sleep(REPAIR_FIRST_SECONDS))
        if task.done():
            # Raises what has ended it.
            await task

    async def _repair(self) -> None:
        """One plan at a time, where it is due."""
        async with self._planning:
            if not self._is_hit():
                self.repair.none_is_hit()
            elif self.repair.is_due():
                await self.repair.plan(self._view(), self._busy(), self._stuck)

    def charge(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` with the places that are kept as used."""
        return charge(snapshot, self._view()) if len(self.store) else snapshot

    def rule(self) -> HoldRule | None:
        """Hold the gangs that places are kept for, and those that come later in a quota."""
        seats = rule(self._view()) if len(self.store) else None
        turns = self.turns.rule(self.clock.wall())
        if seats is None or turns is None:
            return seats or turns
        return lambda gang: seats(gang) or turns(gang)

    def backfill(self, snapshot: Snapshot, plan: Plan) -> Snapshot | None:
        """What a cycle is to solve again for gangs that end before kept room is needed."""
        if not len(self.store):
            return None
        view = self._view()
        self.overstays.look(view)
        seated = frozenset(self._seated.values())
        more = backfill(snapshot, plan, view, self.overstays.is_barred, seated)
        self._offered = frozenset(gang.key for gang in more.gangs) if more else frozenset()
        return more

    def own_room(
        self, snapshot: Snapshot, plan: Plan, asked: Container[GangKey]
    ) -> Snapshot | None:
        """What a cycle is to solve again for a gang that its own kept room keeps out."""
        return within_own_room(snapshot, plan, self._view(), asked) if len(self.store) else None

    def kept(self) -> Kept:
        """Those places, by the gang that they are kept for."""
        seated = {gang: comer for comer, gang in self._seated.items()}
        return kept(self._view(), seated) if len(self.store) else {}

    def placements(self, seating: Container[GangKey]) -> list[Placement]:
        """Members that a cycle is to bind to the places kept for them.

        Those of the gangs `seating` are being bound: another that its owner has made since, or in
        place of one that has gone, is not bound there as well.
        """
        self._is_planning = True
        beside = {comer: gang for comer, gang in self._seated.items() if comer in seating}
        there = placements(self._view()) if len(self.store) else {}
        found = {gang: one for gang, one in there.items() if gang not in beside.values()}
        self._seated = {one.gang: gang for gang, one in found.items()} | beside
        return list(found.values())

    def keeps_for(self, gang: GangKey) -> bool:
        """Whether places are kept for this gang of the plan."""
        return self.store.of(self._seated.get(gang, gang)) is not None

    def keeps_there(self, gang: GangKey, nodes: Iterable[str]) -> bool:
        """Whether these are the places that are kept for this gang of the plan."""
        one = self.store.of(self._seated.get(gang, gang))
        return one is not None and Counter(nodes) == Counter(seat.node for seat in one.seats)

    async def committed(self, gangs: Sequence[GangKey]) -> None:
        """A cycle has committed these gangs."""
        found = (self.store.of(self._seated.get(gang, gang)) for gang in gangs)
        await together([self.executor.end(one, "") for one in found if one is not None])

    def told(self, plan: Plan) -> Plan:
        """`plan`, with what is known here of why gangs wait."""
        return self.caused.told(plan)

    def heard(self, reading: LiveReading, plan: Plan | None) -> None:
        """What a cycle has found."""
        self._is_planning = False
        self._last = plan
        self.overstays.placed((one.gang for one in plan.placements) if plan else (), self._offered)
        self._offered = frozenset()
        self._crowded = plan is not None and bool(crowded_gangs(plan))
        self._is_over_quota = plan is not None and bool(beyond_quota(plan))
        partly = {gang.key for gang in reading.snapshot.gangs if any(r.bound for r in gang.roles)}
        self._stuck = frozenset(
            one.gang
            for one in (plan.waiting if plan else ())
            if one.gang in partly and one.reason.kind in STUCK_REASONS
        )

    def _ended(self, one: Relocation, why: str) -> None:
        self.preemption.ended(one, why, self._view().is_untold(one))
        self.reservation.ended(one, why)

    def _view(self) -> ClusterView:
        return self.executor.view()

    def _is_hit(self) -> bool:
        """Whether our members stand where they cannot stay, or wait beside the others."""
        if self._stuck or any(one.makes_room_to_move for one in self.store):
            return True
        leaving = self.nodes.dead | draining(self.cache)
        if not leaving:
            return False
        reading = self.cache.reading()
        return any(any(reading.ours_on(node)) for node in leaving)

    def _busy(self) -> frozenset[GangKey]:
        return being_bound(self.ledger, self.cache)

    def _is_outdated(self, now: float) -> bool:
        """Whether a newer plan is about to come, for which no pod may have to go.

        Room may have come since the last one was made, and a pod that is evicted meanwhile has
        served no gang.
        """
        if not self._is_planning and not self.cache.changed.is_set():
            self._outdated_since = None
            return False
        if self._outdated_since is None:
            self._outdated_since = now
        if now - self._outdated_since < OUTDATED_PLAN_LIMIT_SECONDS:
            return True
        self._outdated_since = None
        return False

    def _has_settled(self) -> bool:
        """Whether no node was found dead just now."""
        now = self.clock.monotonic()
        if self.nodes.died.is_set():
            self.nodes.died.clear()
            self._last_died = now
            if self._unsettled_since is None:
                self._unsettled_since = now
        since = self._unsettled_since
        settled = (
            since is None
            or now - self._last_died >= FAILURE_SETTLE_SECONDS
            or now - since >= FAILURE_SETTLE_LIMIT_SECONDS
        )
        if settled:
            self._unsettled_since = None
        return settled
