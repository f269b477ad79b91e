"""Gangs whose owner is not known yet, or is another by now: they wait, and none starts in part."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, JOB_SETS, JOBS, NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Listing, Target, WatchEvent
from tests.k8s_bridge.test_scheduler import TEAM, Bench
from tests.twins.jobs import INDEX, job

JOB_NAME = "batch.kubernetes.io/job-name"
JOB_SET_NAME = "jobset.sigs.k8s.io/jobset-name"


class Slow(MemoryCluster):
    """Jobs come late: their watch says nothing until a moment, as a dead connection does."""

    until = 0.0

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """Everything, Jobs late."""
        async with aclosing(super().watch(kind, version, namespace, labels, fields)) as events:
            async for event in events:
                late = self.until - self.store.clock.monotonic()
                if kind is JOBS and late > 0 and event.type != "OPENED":
                    await self.store.clock.sleep(late)
                yield event


class Forbidding(MemoryCluster):
    """Trainings may not be listed."""

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """Everything else."""
        if kind == TRAININGS:
            raise Refused("trainings.example.com is forbidden", 403)
        return await super().list(kind, namespace, labels, cached, fields)


TRAININGS = Kind("example.com", "v1", "trainings", "Training")


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two nodes of 8 GPUs in one leaf."""
    bench = Bench()
    for body in nodes(1, 1, 2):
        await bench.cluster.create(NODES, "", body)
    await add_namespace(bench.cluster, TEAM)
    yield bench
    await bench.stop()


def member(owner: Body, kind: str, name: str, index: int, gpus: int, **labels: str) -> Body:
    """A pod that `owner` makes."""
    body = pod(name, gpus)
    body["metadata"]["labels"] = {INDEX: str(index), **labels}
    owner_name, uid = owner["metadata"]["name"], owner["metadata"]["uid"]
    version = {"Job": "batch/v1", "Training": "example.com/v1"}.get(kind, JOB_SETS.api_version)
    reference = {"apiVersion": version, "kind": kind, "name": owner_name, "uid": uid}
    body["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    return body


async def said(bench: Bench) -> str:
    """All notes of events."""
    return str([one.get("note") for one in (await bench.cluster.list(EVENTS)).items])


@pytest.mark.parametrize("indexed", [True, False])
async def test_pods_come_long_before_their_job(bench: Bench, indexed: bool) -> None:
    """A Job of 4 pods of a node each, on two nodes: none starts, in sight of the Job or before."""
    client = Slow(bench.cluster.store, identity="a")
    client.until = 31.0
    await bench.start(client=client)
    body = job("train", 4)
    if not indexed:
        del body["spec"]["completionMode"]
    made = await bench.cluster.create(JOBS, TEAM, body)
    for index in range(4):
        one = member(made, "Job", f"train-{index}", index, 8, **{JOB_NAME: "train"})
        if not indexed:
            del one["metadata"]["labels"][INDEX]
        await submit(bench.cluster, TEAM, [one])
        await bench.clock.advance(0.3)
    await bench.clock.advance(16)
    assert await bench.places() == {}
    assert "Job ml/train, its owner, is not known" in await said(bench)
    await bench.clock.advance(60)
    assert await bench.places() == {}


async def test_a_kind_that_is_installed_later_is_noticed_in_seconds(bench: Bench) -> None:
    """JobSet's CRD comes after the scheduler: a JobSet of two starts, whole, 20 s later."""
    bench.cluster.store.missing = frozenset({JOB_SETS})
    await bench.start()
    await bench.clock.advance(300)
    bench.cluster.store.missing = frozenset()
    spec = {"parallelism": 2, "completions": 2, "completionMode": "Indexed"}
    body = {
        "metadata": {"name": "js"},
        "spec": {"replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": spec}}]},
    }
    made = await bench.cluster.create(JOB_SETS, TEAM, body)
    labels = {JOB_SET_NAME: "js"}
    await submit(bench.cluster, TEAM, [member(made, "JobSet", "js-w-0-0", 0, 8, **labels)])
    await bench.clock.advance(20)
    assert await bench.places() == {}
    await submit(bench.cluster, TEAM, [member(made, "JobSet", "js-w-0-1", 1, 8, **labels)])
    await bench.clock.advance(3)
    assert set(await bench.places()) == {"js-w-0-0", "js-w-0-1"}


CONFIG = {
    "apiVersion": "topology.scheduler/v1alpha1",
    "kind": "SchedulerConfig",
    "spec": {
        "ownerKinds": [
            {
                "group": "example.com",
                "versions": ["v1"],
                "kind": "Training",
                "resource": "trainings",
                "podSets": [{"path": "spec.workers"}],
            }
        ]
    },
}


async def test_a_kind_that_the_config_describes_is_followed_at_once(bench: Bench) -> None:
    """Two workers of a kind of one's own: alone, the first waits; without the entry, it starts.

    The entry comes while the scheduler runs, and goes again.
    """
    scheduler = await bench.start()
    data = {"config.yaml": json.dumps(CONFIG)}
    entry = {"metadata": {"name": "topology-scheduler-config"}, "data": data}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", entry)
    workers = {"replicas": 2, "template": {}}
    body = {"metadata": {"name": "x"}, "spec": {"workers": workers}}
    made = await bench.cluster.create(TRAININGS, TEAM, body)
    await submit(bench.cluster, TEAM, [member(made, "Training", "x-0", 0, 8)])
    await bench.clock.advance(20)
    assert await bench.places() == {}
    assert "1 of 2 members exist" in await said(bench)
    assert TRAININGS in scheduler.informers.health()
    await submit(bench.cluster, TEAM, [member(made, "Training", "x-1", 1, 8)])
    await bench.clock.advance(5)
    assert set(await bench.places()) == {"x-0", "x-1"}
    await bench.cluster.delete(CONFIG_MAPS, Target("kube-system", "topology-scheduler-config"))
    await bench.clock.advance(5)
    assert TRAININGS not in scheduler.informers.health()


async def test_a_kind_that_may_not_be_listed_holds_its_own_gangs_alone(bench: Bench) -> None:
    """The account has no right to the kind of the entry: its pods wait, a pod beside them runs."""
    data = {"config.yaml": json.dumps(CONFIG)}
    entry = {"metadata": {"name": "topology-scheduler-config"}, "data": data}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", entry)
    scheduler = await bench.start(client=Forbidding(bench.cluster.store, identity="a"))
    made = {"metadata": {"name": "x", "uid": "u"}}
    await submit(bench.cluster, TEAM, [member(made, "Training", "x-0", 0, 8)])
    await submit(bench.cluster, TEAM, [pod("other", 8)])
    await bench.clock.advance(20)
    assert set(await bench.places()) == {"other"}
    assert "Training ml/x, its owner, is not known" in (await said(bench)).replace(TEAM, "ml")
    assert scheduler.unsynced == ("trainings",)


async def test_a_job_that_was_made_anew_under_its_name(bench: Bench) -> None:
    """Pods of the old one are still there, and there is room for one new pod: none is bound."""
    await bench.start()
    old = await bench.cluster.create(JOBS, TEAM, job("train", 2, 4))
    await submit(
        bench.cluster, TEAM, [member(old, "Job", f"train-{i}-old", i, 4) for i in range(2)]
    )
    await bench.clock.advance(3)
    assert len(await bench.places()) == 2
    (other,) = await submit(bench.cluster, TEAM, [pod("other", 4, scheduler="default-scheduler")])
    (free,) = {"n-0-0-0", "n-0-0-1"} - {*(await bench.places()).values()}
    await bench.cluster.bind(Binding(other, free))
    await bench.cluster.delete(JOBS, Target(TEAM, "train"))
    new = await bench.cluster.create(JOBS, TEAM, job("train", 2, 4))
    await submit(
        bench.cluster, TEAM, [member(new, "Job", f"train-{i}-new", i, 4) for i in range(2)]
    )
    await bench.clock.advance(3)
    assert not [name for name in await bench.places() if name.endswith("-new")]
    for name in ("train-0-old", "train-1-old"):
        await bench.cluster.delete(PODS, Target(TEAM, name))
    await bench.clock.advance(60)
    assert {"train-0-new", "train-1-new"} <= set(await bench.places())
