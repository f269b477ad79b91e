"""Gangs that decide where others may go: no gang that cannot start keeps others waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS, PRIORITY_CLASSES
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, node, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.plan import Plan
from fourleaf.model.readers.gangs.turns import MOST_ROUNDS
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.test_scheduler import TEAM, Bench, greedy

HOST = "kubernetes.io/hostname"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four nodes of 8 GPUs in one leaf; and one of 200, all taken, which others would fit on."""
    bench = Bench()
    large = node("large", "leaf-large", "spine-0", 200)
    for body in (*nodes(1, 1, 4), large):
        body["metadata"]["labels"][HOST] = body["metadata"]["name"]
        await bench.cluster.create(NODES, "", body)
    await add_namespace(bench.cluster, "others")
    taken = pod("there", 200, "default-scheduler")
    taken["spec"]["nodeName"] = "large"
    await submit(bench.cluster, "others", [taken])
    await add_namespace(bench.cluster, TEAM)
    yield bench
    await bench.stop()


def repelling(name: str, gpus: int, selector: Body, **term: Any) -> Body:
    """A pod of app web that keeps off the hosts of those that `selector` picks."""
    body = pod(name, gpus)
    body["metadata"]["labels"] = {"app": "web"}
    one = {"topologyKey": HOST, "labelSelector": selector, **term}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [one]}
    body["spec"]["affinity"] = {"podAntiAffinity": required}
    return body


async def placed(bench: Bench) -> dict[str, str]:
    """The nodes of those that were bound here."""
    places = await bench.places()
    del places["there"]
    return places


WEB = {"matchLabels": {"app": "web"}}


async def test_a_replica_that_fits_nowhere_lets_the_next_go_first(bench: Bench) -> None:
    """The first of three asks for more than any node has left: the others run in seconds, apart."""
    await bench.start()
    await submit(bench.cluster, TEAM, [repelling("web-0", 99, WEB)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [repelling(f"web-{i}", 1, WEB) for i in (1, 2)])
    await bench.clock.advance(5)
    places = await placed(bench)
    assert set(places) == {"web-1", "web-2"}
    assert len(set(places.values())) == 2


@pytest.mark.parametrize("space", ["evil", TEAM])
async def test_a_pod_that_fits_nowhere_stops_nobody(bench: Bench, space: str) -> None:
    """It repels all pods of all namespaces, comes first by priority, and fits nowhere now."""
    await bench.start()
    await add_namespace(bench.cluster, "evil")
    evil = repelling("evil", 99, {}, namespaceSelector={})
    await bench.cluster.create(PRIORITY_CLASSES, "", {"metadata": {"name": "high"}, "value": 1000})
    evil["spec"]["priorityClassName"] = "high"
    await submit(bench.cluster, space, [evil])
    await bench.clock.advance(3)
    for number in range(2):
        await submit(bench.cluster, TEAM, gang(f"g{number}", 2))
    await bench.clock.advance(5)
    assert {name[:2] for name in await placed(bench)} == {"g0", "g1"}
    assert len(await placed(bench)) == 4


@pytest.mark.parametrize("priority", ["", "high"])
async def test_many_of_another_tenant_that_fit_nowhere_stop_nobody(
    bench: Bench, priority: str
) -> None:
    """Of forty no two are alike, and pods of theirs come all the time: all has changed again."""
    await bench.start()
    await add_namespace(bench.cluster, "evil")
    await bench.cluster.create(PRIORITY_CLASSES, "", {"metadata": {"name": "high"}, "value": 1000})
    many = [repelling(f"evil-{i}", 99 + i, {}, namespaceSelector={}) for i in range(40)]
    for body in many if priority else ():
        body["spec"]["priorityClassName"] = priority
    await submit(bench.cluster, "evil", many)
    await bench.clock.advance(3)
    for number in range(2):
        await submit(bench.cluster, TEAM, gang(f"g{number}", 2))
    for number in range(20):
        await submit(bench.cluster, "evil", [pod(f"new-{number}", 99)])
        await bench.clock.advance(0.5)
    assert {name[:2] for name in await placed(bench)} == {"g0", "g1"}


@pytest.mark.parametrize(("differ", "least", "most"), [(1, 2, MOST_ROUNDS + 3), (0, 1, 1)])
async def test_none_of_many_that_fit_nowhere_is_tried_without_end(
    bench: Bench, differ: int, least: int, most: int
) -> None:
    """Twenty replicas that fit nowhere: eight rounds, where no two are alike; else one plan."""
    plans = 0

    async def counted(snapshot: Snapshot) -> Plan:
        nonlocal plans
        plans += 1
        return await greedy(snapshot)

    await bench.start(solve=counted)
    wanted = [repelling(f"web-{i}", 99 + i * differ, WEB) for i in range(20)]
    await submit(bench.cluster, TEAM, wanted)
    await bench.clock.advance(60)
    assert least <= plans <= most


async def test_replicas_that_are_alike_wait_for_the_same_one_whatever_changes(
    bench: Bench,
) -> None:
    """Three on four full nodes: pods of others come and are bound, and what is said stays."""
    await bench.start()
    await submit(bench.cluster, TEAM, [repelling(f"web-{i}", 8, WEB) for i in range(7)])
    said = []
    for number in range(4):
        await bench.clock.advance(70)
        said.append([await bench.condition(f"web-{i}") for i in range(4, 7)])
        await submit(bench.cluster, TEAM, [pod(f"other-{number}", 0)])
    assert set(await placed(bench)) >= {"web-0", "web-3", "other-2"}
    assert ["gang ml/web-4 stands" in one for one in said[-1]] == [False, True, True]
    assert said[1:] == [said[-1]] * 3


class Refuses:
    """The API server refuses to bind one pod."""

    async def before(self, request: ApiRequest) -> None:
        """Answer 403 to its bindings."""
        if request.subresource == "binding" and request.target.name == "web-0":
            raise Refused("a policy forbids it", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Nothing is lost."""


async def test_a_replica_that_the_api_refuses_lets_those_like_it_go_first(bench: Bench) -> None:
    """What keeps it from its node is its own: the other three are bound."""
    await bench.start(client=bench.cluster.client("a", Refuses()))
    await submit(bench.cluster, TEAM, [repelling(f"web-{i}", 1, WEB) for i in range(4)])
    await bench.clock.advance(60)
    assert set(await placed(bench)) == {"web-1", "web-2", "web-3"}


async def test_who_was_not_placed_has_its_turn_again(bench: Bench) -> None:
    """A whole node for the first, while all are half full: it starts once one is free."""
    await bench.start()
    halves = [pod(f"half-{i}", 5) for i in range(4)]
    await submit(bench.cluster, TEAM, halves)
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [repelling("web-0", 8, WEB)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [repelling("web-1", 1, WEB)])
    await bench.clock.advance(5)
    places = await placed(bench)
    assert "web-1" in places
    free = next(name for name, node in places.items() if node != places["web-1"])
    await bench.cluster.delete(PODS, Target(TEAM, free))
    await bench.clock.advance(40)
    assert "web-0" in await placed(bench)


@pytest.mark.parametrize("every", [0.5, 2.0])
async def test_what_changes_all_the_time_keeps_none_waiting(bench: Bench, every: float) -> None:
    """One of a higher priority finds no room, and pods of others come between any two plans.

    The one that it repels starts all the same, and well within the 20 s that this is tried.
    """
    await bench.start()
    await bench.cluster.create(PRIORITY_CLASSES, "", {"metadata": {"name": "high"}, "value": 1000})
    first = repelling("web-big", 99, WEB)
    first["spec"]["priorityClassName"] = "high"
    await submit(bench.cluster, TEAM, [first])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [repelling("web-1", 1, WEB)])
    for number in range(int(20 / every)):
        await submit(bench.cluster, "others", [pod(f"p-{number}", 0)])
        await bench.clock.advance(every)
    assert "web-1" in await placed(bench)
    assert "web-big" not in await placed(bench)
