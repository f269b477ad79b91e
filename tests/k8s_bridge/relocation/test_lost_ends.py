"""Pods that are to end on a node that has died since: when they are ended at once, and when not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    Conflict,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import PAGE
from fourleaf.k8s_bridge.relocation.observer import LostPod
from fourleaf.k8s_bridge.reporting.events.relocations import what_does_not_end
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_repair import ending_at_once


class Evictions:
    """An API that counts evictions without a grace period, and answers them as it is told."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.at: list[float] = []
        self.seconds = 0.0
        self.error: ClusterError | None = None
        self.reads = 0
        self.reads_seconds = 0.0

    async def before(self, request: ApiRequest) -> None:
        """Note it, let it hang, refuse it."""
        if self.reads_seconds and request.kind is LEASES and request.target.name.startswith(PAGE):
            self.reads += request.verb == "get"
            await self.bench.clock.sleep(self.reads_seconds)
        if request.subresource != "eviction" or not request.body:
            return
        self.at.append(self.bench.clock.monotonic())
        if self.seconds:
            await self.bench.clock.sleep(self.seconds)
        if self.error is not None:
            raise self.error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def ending(many: int) -> tuple[Bench, Evictions]:
    """So many pods of a Job, eight on a node, have an hour to end when their nodes die."""
    bench = await ending_at_once(True, 2)
    api = Evictions(bench)
    bench.tasks.pop().cancel()
    await bench.start("b", answers=api)
    await bench.clock.advance(30)
    await bench.submit("g", many, 1)
    bodies = await bench.pods("g")
    nodes = {body["spec"]["nodeName"] for body in bodies}
    bench.kubelets.silent |= nodes
    for body in bodies:
        name = body["metadata"]["name"]
        hour = {"spec": {"terminationGracePeriodSeconds": 3600}}
        await bench.cluster.patch(PODS, Target(TEAM, name), hour)
        await bench.cluster.delete(PODS, Target(TEAM, name))
    bench.lose(*nodes)
    return bench, api


async def test_one_that_is_forbidden_is_asked_for_later_and_later() -> None:
    """Never within two seconds, some thirty times in ten minutes, and at last with success."""
    bench, api = await ending(1)
    api.error = Throttled("Cannot evict pod as it would violate the pod's disruption budget.", 429)
    await bench.clock.advance(600)
    pauses = [later - sooner for sooner, later in pairwise(api.at)]
    assert min(pauses) >= 2.0
    assert 20 <= len(api.at) <= 60
    assert len(await bench.dying("g")) == 1
    api.error = None
    await bench.clock.advance(35)
    assert await bench.dying("g") == set()
    await bench.stop()


def said(error: ClusterError) -> str:
    """What would unblock, as the event says after an API that answers `error`."""
    lost = LostPod(GangKey(TEAM, "g"), Target(TEAM, "g-0"), "n1")
    return what_does_not_end(lost, str(error)).note.partition("To unblock: ")[2]


async def test_who_reads_the_pod_is_told_what_keeps_it_once_per_change() -> None:
    """A budget forbids it for two minutes, then the right is missing: two events, told once."""
    bench, api = await ending(1)
    budget = "Cannot evict pod as it would violate the pod's disruption budget."
    right = 'pods is forbidden: User "x" cannot create resource "pods/eviction"'
    api.error = Throttled(budget, 429)
    await bench.clock.advance(120)
    api.error = Refused(right, 403)
    await bench.clock.advance(120)
    told = await bench.events("LostPodStays")
    notes = [one["note"] for one in told]
    assert [text in note for text, note in zip((budget, right), notes, strict=True)] == [True, True]
    assert not [one for one in told if one.get("series")]
    assert {one["regarding"]["kind"] for one in told} == {"Pod"}
    await bench.stop()


def test_each_hindrance_has_its_advice() -> None:
    """A budget is raised, a right given, a policy changed; by force where none of it can be."""
    force = "; or delete it with --force, once its node is surely off"
    budget = Throttled("it would violate the pod's disruption budget", 429)
    assert said(budget) == f"raise its disruption budget{force}"
    right = Refused('User "x" cannot create resource "pods/eviction"', 403)
    assert said(right).startswith("give the scheduler's account the right to create pods/eviction;")
    webhook = Refused('admission webhook "w" denied the request', 403)
    assert said(webhook).startswith("change the policy or webhook that refuses it;")


async def test_a_webhook_that_keeps_one_is_told_whatever_its_status() -> None:
    """It denies by 409, as the API itself does where another pod has that name by now."""
    bench, api = await ending(1)
    api.error = Conflict("the UID in the precondition does not match", 409, "Conflict")
    await bench.clock.advance(60)
    assert "LostPodStays" not in await bench.reasons()
    api.error = Conflict('admission webhook "w" denied the request', 409, "Conflict")
    await bench.clock.advance(60)
    assert "LostPodStays" in await bench.reasons()
    await bench.stop()


async def test_a_bad_moment_of_the_api_is_no_news() -> None:
    """Too many requests, or no answer, keep a pod for a while, and nobody can do anything."""
    bench, api = await ending(1)
    for error in (Throttled("too many requests", 429), Ambiguous("no answer")):
        api.error = error
        await bench.clock.advance(60)
    assert len(api.at) > 4
    assert "LostPodStays" not in await bench.reasons()
    await bench.stop()


async def test_one_that_hangs_is_not_sent_twice() -> None:
    """The API takes a minute, in which it is asked once."""
    bench, api = await ending(1)
    api.seconds = 60.0
    await bench.clock.advance(70)
    assert len(api.at) == 1
    await bench.stop()


async def test_who_is_heard_again_meanwhile_is_not_ended() -> None:
    """The API takes ten seconds to say who leads; the node is heard within these."""
    bench, api = await ending(1)
    api.reads_seconds = 10.0
    (body,) = await bench.pods("g", dying=True)
    while not api.reads:
        await bench.clock.advance(0.25)
    bench.restore(body["spec"]["nodeName"])
    await bench.clock.advance(60)
    assert api.at == []
    await bench.stop()


async def test_what_finalizers_alone_keep_is_not_ended_again() -> None:
    """Once it has no time left, the API is asked no more; half a minute later they are named."""
    bench, api = await ending(1)
    (body,) = await bench.pods("g", dying=True)
    target = Target(TEAM, body["metadata"]["name"])
    await bench.cluster.patch(PODS, target, {"metadata": {"finalizers": ["example.com/keep"]}})
    await bench.clock.advance(25)
    assert "LostPodStays" not in await bench.reasons()
    await bench.clock.advance(120)
    assert len(await bench.dying("g")) == 1
    assert len(api.at) == 1
    (event,) = await bench.events("LostPodStays")
    assert (
        "does not end: its finalizers keep it: example.com/keep. To unblock: let" in event["note"]
    )
    await bench.stop()


async def test_who_waits_for_its_turn_is_left_to_a_kubelet_that_is_heard_again() -> None:
    """Of 24 pods 16 hang in a webhook. Their nodes are back before it is the turn of the others."""
    bench, api = await ending(24)
    api.seconds = 30.0
    await bench.clock.advance(35)
    assert len(api.at) == 16
    bench.heartbeats.restore(bench.heartbeats.silent.copy())
    await bench.clock.advance(60)
    assert len(api.at) == 16
    assert len(await bench.dying("g")) == 8
    await bench.stop()
