"""Gangs that use kept room for a while do not take places that are being taken by their gang."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation import backfill as module
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation, Seat
from fourleaf.k8s_bridge.relocation.reserved_seats import charge
from fourleaf.model.plan import Placement, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests import small


@pytest.mark.parametrize("seated", ["", "in this cycle", "since an earlier one"])
def test_a_reservation_that_is_being_taken_lends_nothing(
    seated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one node is kept from 100 s on: a gang of 50 s may use it, unless it is taken now."""
    long, short = small.gang("long", 1), small.gang("short", 1, duration=50.0)
    seat = Seat(Target("ml", "long-0-0", "u"), (0, 0, 0), "", "a0", long.roles[0].request)
    kept = Relocation(long.key, Purpose.RESERVATION, (seat,), (), starts=small.NOW + 100)
    view: Any = SimpleNamespace(open=(kept,), now=small.NOW, is_taken=lambda seat: False)
    placed = {long.key: Placement(long.key, (("long-0-0", "a0"),))}
    now = placed if seated == "in this cycle" else {}
    monkeypatch.setattr(module, "placements", lambda view: now)
    beside = [long.key] if seated == "since an earlier one" else []
    snapshot = charge(small.snapshot(small.fabric([[1]]), long, short), view)
    full = Waiting(short.key, Reason(ReasonKind.NO_FREE_CAPACITY))
    plan = Plan(PlanStatus.OPTIMAL, (), (full,))
    more = module.backfill(snapshot, plan, view, str.isupper, beside)
    assert (more is None) is bool(seated)
    assert more is None or (more.gangs, more.running) == ((short,), ())


def test_what_was_placed_first_keeps_its_uplinks() -> None:
    """The second solve counts the bandwidth of the first."""
    wide = small.gang("wide", 2, bandwidth=100)
    world = small.snapshot(small.fabric([[1], [1]]), wide)
    across = Placement(wide.key, (("wide-0-0", "a0"), ("wide-0-1", "b0")))
    found = module.placed(world, Plan(PlanStatus.OPTIMAL, (across,), ()))
    assert [(pod.node, pod.bandwidth) for pod in found] == [("a0", 100), ("b0", 100)]
