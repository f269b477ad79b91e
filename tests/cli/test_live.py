"""Reading a cluster once, on the twin: what is listed, and what given files change."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourleaf.cli.cluster.read_cluster import ClusterAccess, Live, read_live
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    JOB_SETS,
    JOBS,
    LEASES,
    NATIVE_POD_GROUPS,
    NATIVE_POD_GROUPS_BETA,
)
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, MemoryStore, actors
from fourleaf.k8s_bridge.cluster.memory.actors import target
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.election.lease import lease_body
from fourleaf.model.problems import BadInput
from fourleaf.model.readers import open_paths

Write = Callable[[str, str], Path]


async def cluster(*missing: Any) -> MemoryCluster:
    """Two leaves of two nodes and a gang of two that waits, in a cluster without some kinds."""
    made = MemoryCluster(MemoryStore(missing=missing))
    await actors.add_nodes(made, actors.nodes(1, 2, 2))
    await actors.submit(made, "ml", actors.gang("pair", 2))
    return made


async def live(made: MemoryCluster) -> Live:
    """What the cluster holds."""
    return await read_live(made, ClusterAccess())


def config(seed: int) -> dict[str, Any]:
    """The scheduler's ConfigMap with a seed by which to know it."""
    text = json.dumps(
        {
            "apiVersion": "topology.scheduler/v1alpha1",
            "kind": "SchedulerConfig",
            "spec": {"solver": {"seed": seed}},
        }
    )
    metadata = {"name": "topology-scheduler-config", "namespace": "kube-system"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"config.yaml": text},
    }


def job(name: str, gpus: str) -> dict[str, Any]:
    """A Job of one pod."""
    container = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    template = {"spec": {"schedulerName": actors.OURS, "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"parallelism": 1, "template": template},
    }


async def test_kinds_that_are_not_served_are_left_out() -> None:
    """Without JobSets, nodes and gangs are read all the same."""
    found = (await live(await cluster(JOB_SETS))).reading().snapshot
    assert len(found.fabric.nodes) == 4
    assert [str(gang.key) for gang in found.gangs] == ["ml/pair"]


async def test_the_second_version_where_the_first_is_not_served() -> None:
    """PodGroups of v1beta1 are found where v1alpha2 is unknown, and carry their version."""
    made = await cluster(NATIVE_POD_GROUPS)
    await made.create(NATIVE_POD_GROUPS_BETA, "ml", {"metadata": {"name": "g"}})
    found = [body for body in (await live(made)).objects if body["kind"] == "PodGroup"]
    assert [body["apiVersion"] for body in found] == ["scheduling.k8s.io/v1beta1"]


async def test_the_config_of_the_cluster_and_that_of_a_file(write: Write) -> None:
    """The ConfigMap is in force, no other one is read, and a given config takes its place."""
    made = await cluster()
    await made.create(CONFIG_MAPS, "kube-system", config(7))
    other = {"metadata": {"name": "other"}, "data": {"a": "b"}}
    await made.create(CONFIG_MAPS, "kube-system", other)
    seen = await live(made)
    names = [body["metadata"]["name"] for body in seen.objects if body["kind"] == "ConfigMap"]
    assert names == ["topology-scheduler-config"]
    assert seen.reading().snapshot.config.spec.solver.seed == 7
    given = open_paths([write("config.json", json.dumps(config(9)))])
    assert seen.reading(given).snapshot.config.spec.solver.seed == 9


async def test_owners_are_expanded_where_they_are_given(write: Write) -> None:
    """A live Job without pods plans nothing; given by a file, it wins and makes its pod."""
    made = await cluster()
    await made.create(JOBS, "ml", job("train", "2"))
    seen = await live(made)
    assert [gang.key.name for gang in seen.reading().snapshot.gangs] == ["pair"]
    given = open_paths([write("job.json", json.dumps(job("train", "4")))])
    gangs = {gang.key.name: gang.gpus for gang in seen.reading(given).snapshot.gangs}
    assert gangs == {"pair": 16, "train-0": 4}


async def test_broken_objects_of_others_and_of_files(write: Write) -> None:
    """A live pod that makes no sense holds its gang back; the same in a file is bad input."""
    made = await cluster()
    broken = actors.pod("odd", 1)
    broken["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "many"}}
    await actors.submit(made, "ml", [broken])
    seen = await live(made)
    holds = {gang.key.name: gang.hold for gang in seen.reading().snapshot.gangs}
    assert holds["pair"] is None
    assert holds["odd"] is not None
    given = open_paths([write("job.json", json.dumps(job("train", "many")))])
    with pytest.raises(BadInput, match="many"):
        seen.reading(given)


async def test_a_cluster_without_nodes_is_the_wrong_one() -> None:
    """Nothing can be planned without nodes, and that is said."""
    with pytest.raises(BadInput, match="the cluster has no node"):
        await live(MemoryCluster())


async def test_who_only_looks_is_answered_from_what_is_at_hand() -> None:
    """Every list may come from the API server's memory; else each is as new as the last write."""
    made, flags = await cluster(), list[bool]()

    async def listed(*words: Any, cached: bool = False, **more: Any) -> Any:
        flags.append(cached)
        return await MemoryCluster.list(made, *words, cached=cached, **more)

    made.list = listed  # type: ignore[method-assign]
    await read_live(made, ClusterAccess(scheduler_namespace="x"), cached=True)
    assert len(flags) > 20
    assert all(flags)
    flags.clear()
    await read_live(made, ClusterAccess(scheduler_namespace="x"))
    assert not any(flags)


@pytest.mark.parametrize(("ago", "led"), [(5, True), (600, False), (-3600, False)])
async def test_whether_a_scheduler_leads(ago: float, led: bool) -> None:
    """Its Lease was renewed seconds ago, or minutes, or it says so of an hour to come."""
    made = await cluster()
    body = lease_body("fourleaf-scheduler", "a", 1, 1, time.time() - ago)
    await made.create(LEASES, "kube-system", body)
    seen = await read_live(made, ClusterAccess(), cached=True)
    assert (seen.led, seen.leaderless) == (led, not led)
    assert not (await live(made)).led


async def test_a_scheduler_leads_whose_clock_is_an_hour_ahead() -> None:
    """Its Lease is renewed while we look."""
    made = await cluster()
    ahead = time.time() + 3600
    await made.create(LEASES, "kube-system", lease_body("fourleaf-scheduler", "a", 6, 1, ahead))

    async def renew() -> None:
        await asyncio.sleep(0.2)
        body = await made.get(LEASES, Target("kube-system", "fourleaf-scheduler"))
        spec = lease_body("fourleaf-scheduler", "a", 6, 1, ahead + 2)["spec"]
        await made.replace(LEASES, target(body), {**body, "spec": spec})

    renewal = asyncio.create_task(renew())
    seen = await read_live(made, ClusterAccess(), cached=True)
    await renewal
    assert (seen.led, seen.leaderless) == (True, False)
