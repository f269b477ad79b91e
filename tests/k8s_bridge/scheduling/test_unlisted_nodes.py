"""Nodes that no page lists: gangs start elsewhere, none makes way for them, and who waits knows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import CONTENT, page_name
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of
from tests.k8s_bridge.relocation.test_moving import drain


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves of four nodes, and no scheduler yet."""
    bench = Bench(1, 2)
    yield bench
    await bench.stop()


class RefusesPage:
    """Does not let the page of the first leaf be made."""

    def __init__(self, error: Callable[[], ClusterError]) -> None:
        self.error = error

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        body = request.body if isinstance(request.body, dict) else {}
        name = (body.get("metadata") or {}).get("name")
        if request.verb == "create" and name == page_name("leaf-0-0", 0):
            raise self.error()

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Leave the answers as they are."""


async def told(bench: Bench, job: str) -> str:
    """What the condition of a waiting member says."""
    for body in await bench.pods(job):
        for one in body.get("status", {}).get("conditions", []):
            if one["type"] == "PodScheduled" and one["status"] == "False":
                return str(one["message"])
    return ""


@pytest.mark.parametrize(
    "error",
    [
        lambda: Refused("exceeded quota: leases", 403, "Forbidden"),
        lambda: Refused("denied by a webhook", 422, "Invalid"),
    ],
    ids=["quota", "webhook"],
)
async def test_a_page_that_may_not_be_made(bench: Bench, error: Callable[[], ClusterError]) -> None:
    """The first gang takes the other leaf; the second waits, and is told of the record."""
    await bench.start(answers=RefusesPage(error))
    await bench.submit("g", 4)
    await bench.clock.advance(15)
    assert {leaf_of(node) for node in (await bench.places("g")).values()} == {1}
    await bench.submit("h", 4)
    await bench.clock.advance(15)
    assert await bench.places("h") == {}
    assert "4 nodes left out by a record that cannot be read or written" in await told(bench, "h")


async def damage(bench: Bench, leaf: int) -> None:
    """Empty the page of a leaf, whose nodes nothing lists then."""
    name = page_name(f"leaf-0-{leaf}", 0)
    await bench.cluster.patch(
        LEASES, Target("kube-system", name), {"metadata": {"annotations": {CONTENT: ""}}}
    )


@pytest.mark.parametrize("lost", [True, False], ids=["repair", "drain"])
async def test_none_that_lives_makes_way_for_a_leaf_without_a_page(
    bench: Bench, lost: bool
) -> None:
    """The only free leaf has no page: who loses a node, or is to leave one, stays as it is."""
    await bench.start()
    await bench.submit("g", 4)
    (leaf,) = await bench.leaves("g")
    await damage(bench, 1 - leaf)
    await bench.succeed("b")
    uids, node = await bench.uids("g"), (await bench.places("g"))[0]
    await bench.clock.advance(10)
    if lost:
        bench.lose(node)
    else:
        await drain(bench, node)
    await bench.clock.advance(120)
    now = await bench.uids("g")
    assert {number: now[number] for number in (1, 2, 3)} == {n: uids[n] for n in (1, 2, 3)}


async def test_no_lower_gang_makes_way_for_it(bench: Bench) -> None:
    """A higher gang could run in the leaf of a lower one, had that a page: the lower one stays."""
    await bench.start()
    await bench.classes(low=1, high=10, top=20)
    await bench.submit("w", 4, priority="top")
    await bench.submit("v", 4, priority="low")
    (leaf,) = await bench.leaves("v")
    uids = await bench.uids("v")
    await damage(bench, leaf)
    await bench.succeed("b")
    await bench.clock.advance(10)
    await bench.submit("h", 4, priority="high")
    await bench.clock.advance(120)
    assert await bench.uids("v") == uids
    assert len((await bench.cluster.list(PODS, TEAM)).items) == 12
