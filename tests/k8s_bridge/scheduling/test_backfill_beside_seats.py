"""Gangs that use kept room for a while do not take places that are being taken by their gang."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.scheduling.cycle import Cycle
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.readers.live import LiveReading
from fourleaf.model.readers.live.reading import Runners
from fourleaf.model.snapshot import Snapshot
from tests import small
from tests.twins.virtual_clock import VirtualClock


async def test_backfill_knows_who_is_seated_in_the_same_cycle() -> None:
    """The plan that backfill is asked about has the members that go to their kept places."""
    clock, seen = VirtualClock(), list[Plan]()
    kept, short = small.gang("kept", 1), small.gang("short", 1)
    seated = Placement(kept.key, (("kept-0-0", "a0"),))

    async def solve(snapshot: Snapshot) -> Plan:
        return Plan(PlanStatus.OPTIMAL, ())

    def backfill(snapshot: Snapshot, plan: Plan) -> None:
        seen.append(plan)

    reservations = SimpleNamespace(
        placements=lambda: [seated],
        charge=lambda snapshot: snapshot,
        rule=lambda: None,
        backfill=backfill,
    )
    committer: Any = SimpleNamespace(trials=SimpleNamespace(pending=dict))
    cache: Any = SimpleNamespace()
    cycle = Cycle(
        cache,
        Ledger(),
        committer,
        solve,
        cast(Any, None),
        clock,
        ApiBackoff(clock),
        cast(Any, reservations),
    )
    snapshot = small.snapshot(small.fabric([[2]]), kept, short)
    plan = await cycle._planned(LiveReading(snapshot, (), {}, Runners((), {})))
    assert seen[0].placements == (seated,)
    assert plan is not None
    assert plan.placements == (seated,)
