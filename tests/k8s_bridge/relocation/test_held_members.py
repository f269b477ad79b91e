"""Members on hold: they take no place that is kept for them, which waits until they may start."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import (
    DEVICE_CLASSES,
    JOBS,
    NODES,
    PODS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_SLICES,
)
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job
from tests.twins.resource_claims import (
    ClaimController,
    channel_spec,
    compute_domain_classes,
    compute_domain_slice,
)

OBSTACLES: dict[str, dict[str, Any]] = {
    "a volume": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "none"}}]},
    "a claim": {"resourceClaims": [{"name": "c", "resourceClaimName": "none"}]},
    "a gate": {"schedulingGates": [{"name": "team/ready"}]},
}
NAMES = [f"n-0-{leaf}-{number}" for leaf in range(4) for number in range(4)]


def template(bench: Bench, spec: dict[str, Any]) -> None:
    """The pods that Job a makes from now on have this in their spec."""
    for record in bench.cluster.store.records(JOBS):
        made = record.body["spec"]["template"]
        bare = {key: said for key, said in made["spec"].items() if key not in _ALL}
        changed = {**record.body["spec"], "template": {**made, "spec": {**bare, **spec}}}
        bench.cluster.store.update(JOBS, record, {**record.whole(), "spec": changed})


_ALL = frozenset(key for spec in OBSTACLES.values() for key in spec)


@pytest.mark.parametrize("obstacle", OBSTACLES)
async def test_a_member_on_hold_takes_no_place_that_is_kept(bench: Bench, obstacle: str) -> None:
    """One of three is lost; the next one waits for what is not there, the one after it starts."""
    await bench.submit("a", 3)
    template(bench, OBSTACLES[obstacle])
    bench.lose((await bench.places("a"))[0])
    await bench.clock.advance(60)
    assert sorted(await bench.places("a")) == [1, 2]
    assert await bench.open_relocations() == ["a"]
    held = next(one for one in await bench.pods("a") if not one["spec"].get("nodeName"))
    template(bench, {})
    await bench.cluster.delete(PODS, Target(TEAM, held["metadata"]["name"]))
    await bench.clock.advance(5)
    assert sorted(await bench.places("a")) == [0, 1, 2]
    assert not await bench.open_relocations()


async def test_a_member_whose_claim_is_made_after_it_has_its_place() -> None:
    """One of three moves off a node; its claim comes 2 s after it, and another pod in between.

    There is one free place, which was kept for it when it was evicted.
    """
    bench = Bench(1, 4)
    try:
        await bench.start()
        await claims_late(bench, 2.0)
        body = job("a", 3)
        body["spec"]["template"]["spec"]["resourceClaims"] = [
            {"name": "channel", "resourceClaimTemplateName": "channel"}
        ]
        await bench.cluster.create(JOBS, TEAM, body)
        await bench.clock.advance(10)
        places = await bench.places("a")
        leaf = places[0].rpartition("-")[0]
        others = [f"other-{number}" for number in range(13)]
        for name in others:
            await bench.submit(name, 1)
        where = {name: (await bench.places(name))[0] for name in others}
        (beside,) = (name for name, node in where.items() if node.rpartition("-")[0] == leaf)
        await bench.end(beside)
        await bench.clock.advance(3)
        asked = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
        await bench.cluster.patch(NODES, Target("", places[0]), asked)
        while not await bench.open_relocations():
            await bench.clock.advance(0.05)
        await bench.submit("w", 1)
        await bench.clock.advance(30)
        assert (await bench.places("a"))[0] == where[beside]
        assert not await bench.places("w")
    finally:
        await bench.stop()


async def claims_late(bench: Bench, seconds: float) -> None:
    """Devices of a driver, and a controller that makes the claims of new pods now and then."""
    controller = ClaimController(bench.cluster.store)

    async def make() -> None:
        while True:
            await bench.clock.sleep(seconds)
            controller.step()

    bench.tasks.insert(0, asyncio.ensure_future(make()))
    for one in compute_domain_classes():
        await bench.cluster.create(DEVICE_CLASSES, "", one)
    for name in NAMES:
        await bench.cluster.create(RESOURCE_SLICES, "", compute_domain_slice(name))
    await add_namespace(bench.cluster, TEAM)
    made = {"metadata": {"name": "channel"}, "spec": {"spec": channel_spec()}}
    await bench.cluster.create(RESOURCE_CLAIM_TEMPLATES, TEAM, made)
