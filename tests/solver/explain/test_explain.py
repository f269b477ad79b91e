"""Explaining changes reasons alone, gives one to every gang, and keeps what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.gang import TopologyPolicy
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import sentence
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain
from tests.instances import snapshots
from tests.small import fabric, gang, snapshot
from tests.solver.explain.asking import starts, why


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(snapshots())
def test_only_reasons_change_and_every_gang_gets_one(world: Snapshot) -> None:
    """On random snapshots: the plan stays, every reason reads, and asking again is the same."""
    plan = greedy_plan(world)
    explained = explain(world, plan)
    assert replace(explained, waiting=plan.waiting) == plan
    assert [entry.gang for entry in explained.waiting] == [entry.gang for entry in plan.waiting]
    assert all(sentence(entry.reason) for entry in explained.waiting)
    assert explain(world, plan) == explained


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(snapshots())
def test_preferred_places_now_where_that_is_promised(world: Snapshot) -> None:
    """A gang told so is placed by greedy once it asks for `Preferred`, beside all others."""
    plan = explain(world, greedy_plan(world))
    gangs = {one.key: one for one in world.gangs}
    placed = [
        RunningPod(key.namespace, member, host, request[member], key, bandwidth=gang_of.bandwidth)
        for placement in plan.placements
        for key, gang_of in [(placement.gang, gangs[placement.gang])]
        for request in [{p: role.request for role in gang_of.roles for p in role.pods}]
        for member, host in placement.pods
    ]
    beside = replace(world, running=(*world.running, *placed))
    for entry in plan.waiting:
        if "topology-policy Preferred would place it now" in entry.reason.unblock:
            asked = replace(gangs[entry.gang], policy=TopologyPolicy.PREFERRED)
            assert starts(replace(beside, gangs=(asked,)))


@pytest.mark.parametrize("make", [lambda: snapshot(fabric([[2]])), lambda: snapshot(fabric([]))])
def test_nothing_to_explain_is_fine(make: Callable[[], Snapshot]) -> None:
    """A plan without waiting gangs comes back as it is, even on an empty fabric."""
    world = make()
    plan = greedy_plan(world)
    assert explain(world, plan) is plan


def test_an_empty_fabric_matches_nobody() -> None:
    """Where there are no nodes at all, none match."""
    world = Snapshot(fabric([]), (), (gang("g", 2),), SchedulerConfig())
    assert why(world).kind is ReasonKind.NO_MATCHING_NODES
