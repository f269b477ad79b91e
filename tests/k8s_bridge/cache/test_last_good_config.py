"""A restart after a bad edit: the config that was in force goes on, as far as a Lease knows it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.config_watcher import RECALLED, ConfigWatcher
from fourleaf.k8s_bridge.cache.last_good_config import CONFIG_LEASE, LastGoodConfig
from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, LEASES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.informers import Put
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.model.config.spec import CONFIG_MAP, SchedulerConfig
from fourleaf.model.readers.config import BUILT_IN
from tests.k8s_bridge.cache.test_config_watcher import BAD, GOOD, HEAD, config_map
from tests.k8s_bridge.test_scheduler import TEAM, Bench, bench
from tests.twins.virtual_clock import VirtualClock

__all__ = ["bench"]

RICH = (
    HEAD
    + """spec:
  schedulerNames: [mine]
  scoringWeights: {topologyAlignment: 0.7}
  network: {nodeBandwidth: 400Gb, uplinkBandwidth: 3200Gb, uplinks: {leaf-1: 100Gb}}
  topology: {preset: gke, windowSlack: 1}
  topologyConstraints: {rules: [{nodes: 6, leaves: 2}]}
  namespaces: {q: {gpuQuota: 8, domains: [leaf-1], maxSolveSeconds: 2.5}, "*": {maxGangs: 9}}
  fragmentation: {mix: [{nodes: 4, share: 0.5}]}
"""
)


def watcher(*texts: str) -> tuple[ConfigWatcher, list[SchedulerConfig]]:
    """A watcher that has read these one after the other, and what it applied."""
    applied: list[SchedulerConfig] = []
    made = ConfigWatcher((), applied.append, lambda *_: None)
    for version, text in enumerate(texts):
        made.on_change(Put(config_map(text, str(version))))
    return made, applied


async def kept_of(*texts: str) -> StateLease:
    """The Lease after a leader that read these."""
    clock = VirtualClock()
    lease = StateLease(MemoryCluster(clock=clock), "kube-system", CONFIG_LEASE, clock)
    follower = asyncio.ensure_future(LastGoodConfig(lease, watcher(*texts)[0], clock).follow())
    await clock.advance(6)
    follower.cancel()
    return lease


@pytest.mark.parametrize("text", [GOOD, RICH], ids=["one value", "every kind of value"])
async def test_what_was_in_force_comes_back_as_it_was(text: str) -> None:
    """Value by value; and it says that it is no longer what the ConfigMap has."""
    lease = await kept_of(text, BAD)
    before, _ = watcher(text)
    after, applied = watcher(BAD)
    assert after.state.source == BUILT_IN
    await LastGoodConfig(lease, after, VirtualClock()).restore()
    assert applied[-1] == after.state.config == before.state.config
    assert (after.state.source, after.state.valid) == (RECALLED, False)


async def test_a_good_config_map_is_not_overruled() -> None:
    """Neither is a good one that this process has read before the bad edit."""
    lease = await kept_of(GOOD)
    for texts in ([RICH], [RICH, BAD]):
        one, applied = watcher(*texts)
        await LastGoodConfig(lease, one, VirtualClock()).restore()
        assert applied[-1].spec.scheduler_names == ("mine",)


async def test_where_nothing_was_kept_the_defaults_stay() -> None:
    """And so it is where the Lease holds nonsense."""
    lease = StateLease(MemoryCluster(), "kube-system", CONFIG_LEASE, VirtualClock())
    one, applied = watcher(BAD)
    await LastGoodConfig(lease, one, VirtualClock()).restore()
    await lease.save({"spec": {"batch": {"size": "none"}}})
    await LastGoodConfig(lease, one, VirtualClock()).restore()
    assert (len(applied), one.state.source) == (1, BUILT_IN)


class Unanswered:
    """Requests of one verb, all where it is "", get no answer while `on`."""

    def __init__(self, verb: str = "") -> None:
        self.verb = verb
        self.on = True

    async def before(self, request: ApiRequest) -> None:
        """No answer."""
        if self.on and self.verb in ("", request.verb):
            raise Ambiguous("etcdserver: leader changed", 500)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_what_could_not_be_saved_is_saved_later() -> None:
    """The API gives no answer when the config comes into force."""
    clock, trouble = VirtualClock(), Unanswered()
    cluster = MemoryCluster(clock=clock).client("a", trouble)
    lease = StateLease(cluster, "kube-system", CONFIG_LEASE, clock)
    following = asyncio.ensure_future(LastGoodConfig(lease, watcher(GOOD)[0], clock).follow())
    await clock.advance(1)
    trouble.on = False
    await clock.advance(6)
    following.cancel()
    assert await lease.load()


@pytest.mark.parametrize(("edits", "source"), [([], RECALLED), ([RICH], "ConfigMap")])
async def test_what_could_not_be_read_is_read_later(edits: list[str], source: str) -> None:
    """The API gives no answer for the first 15 s of a term; a good edit meanwhile stands."""
    clock, trouble = VirtualClock(), Unanswered("get")
    cluster = MemoryCluster(clock=clock)
    lease = StateLease(cluster.client("b", trouble), "kube-system", CONFIG_LEASE, clock)
    good = watcher(GOOD)[0].state.config
    await lease.save(good.model_dump(mode="json", by_alias=True, exclude_unset=True))
    after, _ = watcher(BAD)
    one = LastGoodConfig(lease, after, clock)

    async def term() -> None:
        await one.restore()
        await one.follow()

    task = asyncio.ensure_future(term())
    await clock.advance(15)
    assert after.state.source == BUILT_IN
    for version, text in enumerate(edits):
        after.on_change(Put(config_map(text, str(10 + version))))
    trouble.on = False
    await clock.advance(20)
    task.cancel()
    assert after.state.source.startswith(source)


async def test_a_restart_after_a_bad_edit_keeps_a_quota(bench: Bench) -> None:
    """The gang over its quota waits under the next process too, and the event does not lie."""
    quota = HEAD + "spec:\n  namespaces: {ml: {gpuQuota: 0}}\n"
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": quota}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    await bench.start("a")
    await bench.clock.advance(6)
    leases = {one["metadata"]["name"] for one in (await bench.cluster.list(LEASES)).items}
    assert CONFIG_LEASE in leases
    bad = {"data": {"config.yaml": BAD}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), bad)
    await bench.clock.advance(2)
    bench.tasks.pop().cancel()
    await bench.start("b")
    await submit(bench.cluster, TEAM, [pod("p", 8)])
    await bench.clock.advance(30)
    assert not await bench.places()
    notes = [event.get("note", "") for event in (await bench.cluster.list(EVENTS)).items]
    assert any(RECALLED in note for note in notes)
