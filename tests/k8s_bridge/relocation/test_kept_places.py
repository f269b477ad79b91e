"""Places that are kept for members that have yet to come, and that stop to suit meanwhile."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, JOBS, LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, container
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from fourleaf.model.devices.visibility import ENTRY
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job

CHANGES: dict[str, dict[str, Any]] = {
    "cordon": {"spec": {"unschedulable": True}},
    "taint": {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}},
    "relabel": {"metadata": {"labels": {"disk": "hdd"}}},
}


async def drained(bench: Bench) -> str:
    """A gang of two on nodes with a label, of which a member is to move; the node kept for it.

    No replacement comes as long as the Job's controller is stopped.
    """
    await bench.start()
    await add_namespace(bench.cluster, TEAM)
    for number in range(4):
        labels = {"metadata": {"labels": {"disk": "ssd"}}}
        await bench.cluster.patch(NODES, Target("", f"n-0-0-{number}"), labels)
    body = job("g", 2, 8)
    body["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(3)
    leaves = (await bench.places("g"))[1]
    bench.jobs.step = lambda: None  # type: ignore[method-assign]
    asked = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", leaves), asked)
    for _ in range(20):
        await bench.clock.advance(1)
        found = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
        if found:
            (seat,) = read_relocation(found[0]).seats
            return seat.node
    raise AssertionError("no place is kept")


@pytest.mark.parametrize("change", CHANGES)
async def test_a_place_that_no_longer_suits_is_given_up(change: str) -> None:
    """Its node is cordoned, tainted or relabelled before the member comes: it goes elsewhere."""
    bench = Bench(1, 1)
    try:
        step = bench.jobs.step
        kept = await drained(bench)
        await bench.cluster.patch(NODES, Target("", kept), CHANGES[change])
        await bench.clock.advance(3)
        bench.jobs.step = step  # type: ignore[method-assign]
        await bench.clock.advance(30)
        places = await bench.places("g")
        assert len(places) == 2
        assert kept not in places.values()
        assert not (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    finally:
        await bench.stop()


async def test_a_member_that_was_not_told_takes_no_place_that_is_kept() -> None:
    """The webhook was away when it came: its place goes to the next one, which has the variable."""
    bench = Bench(1, 1)
    config = {"apiVersion": API_VERSION, "kind": "SchedulerConfig"}
    config["spec"] = {"devices": {"untold": "hold"}}
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": json.dumps(config)}}
    try:
        await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
        step = bench.jobs.step
        kept = await drained(bench)
        for said in ({}, {"env": [ENTRY]}):
            main = {key: value for key, value in container(8).items() if key != "env"} | said
            template = {"template": {"spec": {"containers": [main]}}}
            await bench.cluster.patch(JOBS, Target(TEAM, "g"), {"spec": template})
            bench.jobs.step = step  # type: ignore[method-assign]
            await bench.clock.advance(5)
            assert (kept in (await bench.places("g")).values()) == bool(said)
            for body in await bench.pods("g"):
                if not body["spec"].get("nodeName"):
                    assert "NotTold: " in str(body["status"]["conditions"])
                    await bench.cluster.delete(PODS, Target(TEAM, body["metadata"]["name"]))
    finally:
        await bench.stop()
