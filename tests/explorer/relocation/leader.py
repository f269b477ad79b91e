"""One leader with all that a term has: relocations, cycles, and the ledger under them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from fourleaf.k8s_bridge.ledger.ledger import Commit
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.relocation.controller import RelocationController
from fourleaf.k8s_bridge.relocation.move_budget import MOVES_LEASE, MoveBudget
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import (
    EVICTIONS_LEASE,
    CausedEvictions,
)
from fourleaf.k8s_bridge.scheduling.cycle import Cycle
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.k8s_bridge.scheduling.silent_nodes import SilentNodes
from fourleaf.model.config.relocation import Backfill
from fourleaf.model.config.spec import SchedulerConfig, Spec
from fourleaf.model.gang import GangKey
from tests.explorer.code.leader import QUIET, Leader, UnhurriedClock
from tests.explorer.code.scenario import Act, TakeOver
from tests.explorer.code.store import CountingStore
from tests.explorer.relocation.planner import SmallPlanner
from tests.explorer.relocation.sight import Sight
from tests.explorer.relocation.store import JudgingStore
from tests.explorer.relocation.story import Lead, Story
from tests.k8s_bridge.ledger.harness import SYSTEM

RESERVES = SchedulerConfig()
RESERVES_NOT = SchedulerConfig(spec=Spec(backfill=Backfill(enabled=False)))


@dataclass(slots=True)
class Nodes:
    """The judgement of nodes, as it stands."""

    dead: frozenset[str]
    died: asyncio.Event = field(default_factory=asyncio.Event)

    def silent_for(self, _: str) -> float | None:
        """Nothing is known of that."""
        return None


class AgelessClock(UnhurriedClock):
    """A leader's clock for how long relocations are open: no time passes, and none is too old."""

    def monotonic(self) -> float:
        """Always the same."""
        return self.wall()


class Silent:
    """Hears of everything, and tells nobody."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


class TermLeader(Leader):
    """The code of a term, in beats: relocations, a cycle, housekeeping, with bindings beside them.

    Whatever was put off until later is due at each beat, and nothing ever expires.
    """

    def __init__(self, story: Story, name: str, *rest: Any) -> None:
        self.story = story
        self.leads = False
        self._idle = False
        self._idle_at: tuple[object, ...] = ()
        super().__init__(name, *rest)

    def _sees(self, store: CountingStore) -> Any:
        assert isinstance(store, JudgingStore)
        sight = Sight(store, self.clock)
        sight.lose(self._dead)
        sight.configure(RESERVES if self.story.reserves else RESERVES_NOT)
        return sight

    @property
    def _dead(self) -> frozenset[str]:
        return self.story.dead if self.name == "old" else self.story.lost

    def _work(self) -> None:
        super()._work()
        planner = SmallPlanner(self.story)
        self.api_backoff = ApiBackoff(self.clock)
        self.store = RelocationStore(
            self.records,
            self.ledger,
            self.epoch,
            self.clock if self.story.is_hurried else UnhurriedClock(self.clock),
            self._start,
            self.view.changed.set,
            _log=QUIET,
        )
        self.nodes = Nodes(self._dead)
        self.relocating = RelocationController(
            self.cluster,
            self.view,
            self.ledger,
            self.store,
            self.nodes,
            planner,
            self.clock,
            Silent(),
            MoveBudget(StateLease(self.cluster, SYSTEM, MOVES_LEASE, self.clock)),
            CausedEvictions(
                StateLease(self.cluster, SYSTEM, EVICTIONS_LEASE, self.clock), cache=self.view
            ),
            self._start,
        )
        self.relocating.executor.trials.clock = UnhurriedClock(self.clock)
        self.relocating.executor.ages.clock = AgelessClock(self.clock)
        self.cycle = Cycle(
            self.view,
            self.ledger,
            self.committer,
            planner.solve,
            Silent(),
            self.clock,
            self.api_backoff,
            SilentNodes(self.clock),
            self.relocating,
            dead=lambda: self.nodes.dead,
        )
        parts = self.relocating
        for part in (parts.executor, parts.repair, parts.preemption, parts.reservation):
            part._log = QUIET
        self._glimpse = b""
        self._back: frozenset[GangKey] = frozenset()

    @property
    def idle(self) -> bool:
        """Whether another look would show nothing new."""
        at = (self.view.store.writes, self.history, self.asked, self.seen)
        if at != self._idle_at:
            self._idle_at, self._idle = at, super().idle
        return self._idle

    async def _do(self, act: Act | Lead) -> None:
        match act:
            case Lead():
                await self._lead()
            case TakeOver():
                await self._take_over()
                await self.store.take_over()
            case _:
                await super()._do(act)

    async def _lead(self) -> None:
        self.leads = True
        self.view.changed.set()
        self._back = self.cycle.returning()
        while True:
            self._at_rest()
            self._wake()
            self._notice()
            self.seen, self.asked = self._sight(), False
            await self.store.convert()
            await self.relocating.step()
            if self.view.changed.is_set():
                self.view.changed.clear()
                report = await self.cycle.run()
                if report.again:
                    self.view.changed.set()
            await self.keeping.run_once()
            # Since the last beat: what takes long goes on beside them.
            returned = self._back - (back := self.cycle.returning())
            self._back = back
            if returned or self.api_backoff._refused:
                self.view.changed.set()
            if self._strangers():
                await self.keeping.sweep()
            if self._strays():
                await self.store.sweep()
            await self._look()

    def _put_off(self) -> list[str]:
        refused = self.store._retries._refused if hasattr(self, "store") else {}
        return [*super()._put_off(), *(n for n, one in refused.items() if one.due > self.clock.now)]

    def _notice(self) -> None:
        """What a watch would tell: some pod has changed."""
        now = self.view.store.digest_of_pods()
        if now != self._glimpse:
            self._glimpse = now
            self.view.changed.set()

    def _strangers(self) -> list[str]:
        self._keeps = True
        return super()._strangers()

    def _strays(self) -> bool:
        """Whether there are relocations that only a sweep would find."""
        mine = {(one.gang, one.version) for one in self.store}
        return any((one.gang, one.version) not in mine for one in self.view.store.relocations())

    def _sight(self) -> bytes:
        return super()._sight() + bytes([hasattr(self, "store") and self._strays()])

    def _known(self) -> bytes:
        if not hasattr(self, "cycle"):
            return super()._known()
        one = self.relocating
        more = (
            sorted(self.store, key=lambda it: it.gang),
            one._last,
            one._seated,
            sorted(one._stuck),
            sorted(one.executor._doomed),
            sorted(self.cycle._assumed.items()),
            self.view.changed.is_set(),
            bool(self.api_backoff._refused),
            sorted(self._back),
            self._glimpse,
        )
        return super()._known() + repr(more).encode()

    def took_claim(self, body: Any) -> None:
        """There are no claims."""

    def took(self, body: Any) -> None:
        """A pod as a write of ours left it."""
        self.view.took(body)

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        self.view.bound(member)

    def all_bound(self, commit: Commit, members: tuple[Member, ...]) -> None:
        """No plugin is told."""

    def rolled_back(self, commit: Commit, why: str) -> None:
        """What made it impossible may do so again."""
        self.api_backoff.note(commit.gang, why)
