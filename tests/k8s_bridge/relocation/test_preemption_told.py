"""Preemptions that are given up, or not begun: the gang is told why, and tried again in time."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.relocation.preemption import REFUSED_RETRY_SECONDS
from fourleaf.model.readers.objects.timestamps import seconds_of
from tests.k8s_bridge.relocation.bench import Bench


class Denies:
    """A policy that denies the bindings of `top` while it `lasts`; those alone, `in_spite`."""

    def __init__(self, in_spite: bool = False) -> None:
        self.in_spite = in_spite
        self.lasts = True

    async def before(self, request: ApiRequest) -> None:
        """Deny it, but for dry runs where they are let pass."""
        of_top = request.subresource == "binding" and request.target.name.startswith("top-")
        if of_top and self.lasts and not (self.in_spite and request.dry_run):
            raise Refused("policy team-quota denied it", 422, "Invalid")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench(bench: Bench) -> Bench:
    """A scheduler that leads, and three priorities."""
    await bench.classes(low=1, middle=5, high=10)
    return bench


async def told(bench: Bench) -> list[str]:
    """What pods of `top` are told of preemptions."""
    events = (await bench.cluster.list(EVENTS)).items
    return [
        one["note"]
        for one in events
        if one["reason"] == "PreemptionForbidden" and one["regarding"]["name"].startswith("top-")
    ]


async def test_a_gang_that_would_not_be_bound_is_told_and_tried_again(bench: Bench) -> None:
    """Nothing goes while a policy denies its bindings, and it has its place soon after that."""
    bench.tasks.pop().cancel()
    denies = Denies()
    await bench.start("b", dry_run="always", answers=denies)
    await bench.clock.advance(30)
    await bench.submit("a", 16, priority="low")
    uids = await bench.uids("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(30)
    said = await told(bench)
    assert len(said) == 1
    assert said[0].startswith("Pods of lower priority would make way for it, but it would not be ")
    assert "policy team-quota denied it" in said[0]
    assert "To unblock: allow it where it is refused" in said[0]
    assert await bench.uids("a") == uids
    denies.lasts = False
    await bench.clock.advance(REFUSED_RETRY_SECONDS + 10)
    assert len(await bench.places("top")) == 4


async def test_what_refused_it_in_spite_of_a_dry_run_is_told(bench: Bench) -> None:
    """Its bindings were denied though dry runs pass; its room is taken, and it says by what."""
    bench.tasks.pop().cancel()
    await bench.start("b", dry_run="always", answers=Denies(in_spite=True))
    await bench.clock.advance(30)
    await bench.submit("a", 12, priority="low")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(2)
    await bench.submit("b", 4, priority="low")
    await bench.clock.advance(120)
    said = await told(bench)
    assert said
    assert all("refused in spite of a dry run" in one for one in said)
    assert all("policy team-quota denied it" in one for one in said)


async def test_a_gang_that_has_preempted_is_told_how_long_it_waits(bench: Bench) -> None:
    """A node of its victims is cordoned while they end, twice: no other goes for 300 s, it says so.

    When the second window ends holds whenever it is read.
    """
    for name in "abcd":
        await bench.submit(name, 4, priority="low")
    bench.kubelets.silent |= {one["metadata"]["name"] for one in bench.fabric}
    await bench.submit("top", 4, priority="high")
    for evicted in (4, 8):
        while len(await bench.events("Evicted")) < evicted:
            await bench.clock.advance(0.5)
        assert not await told(bench)
        (record,) = (await bench.cluster.list(LEASES, labels=RELOCATIONS)).items
        closed = {"spec": {"unschedulable": True}}
        seat = read_relocation(record).seats[0]
        await bench.cluster.patch(NODES, Target("", seat.node), closed)
    began = bench.clock.wall()
    await bench.clock.advance(100)
    said = await told(bench)
    assert len(said) == 1
    assert said[0].startswith("Pods were evicted for it already")
    until = said[0].partition("wait until ")[2].partition(",")[0]
    assert 297 <= (seconds_of(until) or 0) - began < 303


async def test_what_was_not_looked_at_is_not_told(bench: Bench) -> None:
    """Pods went for a gang that did not stay; another of its namespace would fit nowhere at all.

    It is told for how long none goes for it, and not that it would start if some went.
    """
    for name in "abcd":
        await bench.submit(name, 4, priority="low")
    await bench.submit("first", 4, priority="high")
    await bench.clock.advance(15)
    await bench.delete("first")
    await bench.clock.advance(10)
    await bench.submit("other", 4, priority="high", namespace="others")
    await bench.submit("top", 16, priority="high")
    await bench.clock.advance(30)
    (said,) = await told(bench)
    assert said.startswith("No pods are evicted for it until 20")
    assert "a gang of its namespace that was gone, or had failed, within 300 s" in said
