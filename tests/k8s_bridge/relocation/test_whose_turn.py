"""Whose turn it is within a quota of two nodes, and who waits behind that gang."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation, Seat
from fourleaf.k8s_bridge.relocation.tenants import quota_turns
from fourleaf.k8s_bridge.relocation.tenants.quota_turns import FRUITLESS_SECONDS, QuotaTurns
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey, Hold, Role
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import RunningPod, Snapshot
from tests.small import WHOLE
from tests.twins.virtual_clock import VirtualClock

AFTER = 20.0
QUOTA = SchedulerConfig.model_validate(
    {"spec": {"backfill": {"afterSeconds": AFTER}, "namespaces": {"ml": {"gpuQuota": 16}}}}
)


def waiting(name: str, pods: int) -> Gang:
    """A gang of so many pods of a node each that has waited for long enough; more pods, older."""
    role = Role(tuple(f"{name}-{i}" for i in range(pods)), WHOLE)
    return Gang(GangKey("ml", name), (role,), created=VirtualClock().wall() - AFTER - pods)


BIG, SMALL = waiting("big", 2), waiting("small", 1)


class Quota:
    """`BIG` and `SMALL` wait."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        cache = cast("ClusterCache", SimpleNamespace(config=QUOTA))
        self.turns = QuotaTurns(cache, self.clock, lambda _: False)

    def holds(
        self,
        gang: Gang,
        reason: ReasonKind,
        running: int,
        *kept: Relocation,
        big: Gang = BIG,
        of: str = "r",
        ends: float | None = None,
    ) -> bool:
        """Whether `gang` is held while so many pods of a node run in its namespace.

        They are those of a gang `of` that name, which declares that it `ends` then. `big` waits
        for `reason`, and places are `kept`.
        """
        pods = tuple(
            RunningPod("ml", f"{of}-{i}", "n", WHOLE, gang=GangKey("ml", of), ends=ends)
            for i in range(running)
        )
        view = SimpleNamespace(
            gangs={one.key: one for one in (big, SMALL)},
            reading=SimpleNamespace(snapshot=Snapshot(Fabric(()), pods)),
            open=kept,
            now=self.clock.wall(),
            is_taken=lambda _: False,
        )
        plan = Plan(PlanStatus.OPTIMAL, (), (Waiting(big.key, Reason(reason)),))
        self.turns.look(cast("ClusterView", view), plan)
        rule = self.turns.rule(self.clock.wall())
        return rule is not None and rule(gang) is not None


async def test_who_does_not_start_though_its_quota_is_free_holds_others_for_a_minute() -> None:
    """`BIG` finds no place: `SMALL` is held for 60 s, and not again in the hour after that.

    In the next turn it finds none either, and after that it rests for two hours.
    """
    quota = Quota()
    for rest in (FRUITLESS_SECONDS, 2 * FRUITLESS_SECONDS):
        assert quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 2)
        assert quota.holds(SMALL, ReasonKind.NO_FREE_CAPACITY, 0)
        await quota.clock.advance(59)
        assert quota.holds(SMALL, ReasonKind.NO_FREE_CAPACITY, 0)
        await quota.clock.advance(2)
        assert not quota.holds(SMALL, ReasonKind.NO_FREE_CAPACITY, 0)
        await quota.clock.advance(rest - 1)
        assert not quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 2)
        await quota.clock.advance(2)


async def test_members_of_a_gang_that_runs_come_back_to_it() -> None:
    """A gang of two of which one runs is short of a pod: that is not held, nor has it a turn."""
    pair = waiting("pair", 2)
    (role,) = pair.roles
    short = replace(pair, roles=(replace(role, pods=("pair-1",), bound=(("pair-0", "n"),)),))
    quota = Quota()
    assert quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 2)
    assert not quota.holds(short, ReasonKind.QUOTA_EXCEEDED, 2)
    assert not quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 2, big=short)


async def test_a_gang_that_grows_waits_as_others_do() -> None:
    """One member of `pair` runs, which wants two more in the turn of `BIG`, and then one more."""
    quota = Quota()
    for wanted, held in ((2, True), (1, False)):
        new = waiting("pair", wanted)
        (role,) = new.roles
        grown = replace(new, roles=(replace(role, bound=(("pair-9", "n"),)),))
        assert quota.holds(grown, ReasonKind.QUOTA_EXCEEDED, 1, of="pair") is held


async def test_a_gang_that_starts_over_waits_for_none() -> None:
    """`pair` ran with two pods in the turn of `BIG`, and has none: it may, for ten minutes."""
    quota, pair = Quota(), waiting("pair", 2)
    assert quota.holds(pair, ReasonKind.QUOTA_EXCEEDED, 0)
    quota = Quota()
    quota.holds(pair, ReasonKind.QUOTA_EXCEEDED, 2, of="pair")
    quota.holds(pair, ReasonKind.QUOTA_EXCEEDED, 2, of="pair")
    await quota.clock.advance(50)
    assert not quota.holds(pair, ReasonKind.QUOTA_EXCEEDED, 1)
    await quota.clock.advance(600)
    assert quota.holds(pair, ReasonKind.QUOTA_EXCEEDED, 1)


async def test_an_end_that_is_declared_for_next_year_ends_no_turn() -> None:
    """An hour in which no more comes free is enough, unless an end lies within the next one."""
    for ends, held in ((8760 * 3600.0, False), (2 * FRUITLESS_SECONDS, True)):
        quota = Quota()
        at = quota.clock.wall() + ends
        assert quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 1, ends=at)
        await quota.clock.advance(FRUITLESS_SECONDS + 1)
        assert quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 1, ends=at) is held


async def test_a_namespace_rests_longer_after_each_turn_in_vain() -> None:
    """Three gangs of all of the quota have their turns: between them 20, 40 and 80 s pass."""
    quota = Quota()
    for turns, name in enumerate(("first", "second", "third")):
        big = waiting(name, 2)
        if turns:
            await quota.clock.advance(AFTER * 2 ** (turns - 1) - 2)
            assert not quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 1, big=big)
            await quota.clock.advance(AFTER + 3)
        quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 1, big=big)
        await quota.clock.advance(AFTER + 1)
        assert quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 1, big=big)
        await quota.clock.advance(FRUITLESS_SECONDS + 1)
        assert not quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 1, big=big)


def test_a_rest_lasts_for_a_day_at_most() -> None:
    """The tenth rest after an hour, then two, would be 512 hours."""
    rest = None
    for _ in range(10):
        rest = quota_turns._longer(rest, 3600.0, 1000.0)
    assert rest == quota_turns._Rest(10, 1000.0 + 86_400.0)


async def test_who_has_places_kept_holds_no_other() -> None:
    """The places that are kept for `BIG` count in its quota: what is left of that is for all."""
    seats = tuple(Seat(Target("ml", p, p, "1"), (0, 0, 0), "", "n", WHOLE) for p in BIG.requests)
    kept = Relocation(BIG.key, Purpose.RESERVATION, seats, ())
    quota = Quota()
    assert quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 2)
    assert not quota.holds(SMALL, ReasonKind.NO_FREE_CAPACITY, 0, kept)
    await quota.clock.advance(2 * FRUITLESS_SECONDS)
    assert not quota.holds(SMALL, ReasonKind.NO_FREE_CAPACITY, 0, kept)


async def test_nor_has_one_that_is_on_hold_a_turn() -> None:
    """A gang that is gated meanwhile gives its turn to the others at once."""
    quota = Quota()
    assert quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 2)
    gated = replace(BIG, hold=Hold(ReasonKind.GATED, "gated"))
    assert not quota.holds(SMALL, ReasonKind.QUOTA_EXCEEDED, 2, big=gated)
