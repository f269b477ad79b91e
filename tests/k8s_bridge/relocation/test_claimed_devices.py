"""Gangs that claim their devices in a row come to the places that others were evicted for."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import GPU_CLAIMS, JOBS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.model.crds.claim import CLAIM
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job


async def submit_claiming(bench: Bench, name: str, size: int, priority: str = "") -> None:
    """Submit a Job whose pods want four devices in a row each."""
    await add_namespace(bench.cluster, TEAM)
    spec = {"devices": {"count": 4, "policy": "contiguous"}}
    await bench.cluster.create(GPU_CLAIMS, TEAM, {"metadata": {"name": "row"}, "spec": spec})
    body = job(name, size, 4, **{CLAIM: "row"})
    if priority:
        body["spec"]["template"]["spec"]["priorityClassName"] = priority
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(3)


def ended(bench: Bench, purpose: str) -> tuple[float, float]:
    """How many relocations of that purpose have served, and were given up."""
    count = bench.metrics.registry.get_sample_value
    results = ("served", "given up")
    labels = ({"purpose": purpose, "result": result} for result in results)
    served, given_up = (count("fourleaf_relocations_total", one) or 0.0 for one in labels)
    return served, given_up


async def test_a_gang_that_claims_takes_the_room_of_its_victim(bench: Bench) -> None:
    """Eight pods of 4 devices in a row take the 4 nodes of one victim, by their kept places."""
    await bench.classes(low=1, high=10)
    await bench.submit("a", 12, priority="high")
    await bench.submit("b", 4, priority="low")
    freed = set((await bench.places("b")).values())
    await submit_claiming(bench, "top", 8, "high")
    await bench.clock.advance(12)
    assert sorted((await bench.places("top")).values()) == sorted([*freed, *freed])
    assert ended(bench, "preemption") == (1, 0)


async def test_members_that_claim_are_seated_where_their_places_are_kept(bench: Bench) -> None:
    """A node of a gang of 6 such pods dies: the two lost ones come to the places kept for them."""
    await submit_claiming(bench, "a", 6)
    before = await bench.places("a")
    bench.lose(before[0])
    await bench.clock.advance(60)
    after = await bench.places("a")
    stayed = [index for index in before if before[index] == after[index]]
    assert stayed == [index for index, node in before.items() if node != before[0]]
    assert ended(bench, "repair") == (1, 0)
