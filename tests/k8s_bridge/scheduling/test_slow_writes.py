"""Records that the API takes long to write: their gang waits alone, and its places are its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Conflict, Refused
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import LEAF, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.scheduling.cycle import CycleReport
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of
from tests.twins.virtual_clock import VirtualClock

WRITE_SECONDS = 10.0


class SlowPage:
    """The first page that is written once it is set `on` takes long, and is `refused` then."""

    def __init__(self, clock: VirtualClock, refused: bool = False) -> None:
        self.clock = clock
        self.refused = refused
        self.on = False

    async def before(self, request: ApiRequest) -> None:
        """Take the time."""
        page = request.kind is LEASES and request.target.name.startswith("page-")
        if self.on and page and request.verb == "update":
            self.on = False
            await self.clock.sleep(WRITE_SECONDS)
            if self.refused:
                raise Refused("the policy denies it", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def leaves(bench: Bench) -> dict[str, set[int]]:
    """Gang -> the leaves in which its pods stand."""
    found: dict[str, set[int]] = {}
    for body in (await bench.cluster.list(PODS, TEAM)).items:
        if body["spec"].get("nodeName"):
            name = body["metadata"]["name"].rsplit("-", 1)[0]
            found.setdefault(name, set()).add(leaf_of(body["spec"]["nodeName"]))
    return found


async def test_a_page_that_is_long_in_writing_holds_its_own_gang_alone(bench: Bench) -> None:
    """Three gangs that come later fill the other leaves at once; a fourth waits for a place."""
    slow = SlowPage(bench.clock)
    await bench.start(answers=slow)
    slow.on = True
    await submit(bench.cluster, TEAM, gang("slow", 4))
    await bench.clock.advance(2)
    for name in ("a", "b", "c", "d"):
        await submit(bench.cluster, TEAM, gang(name, 4))
        await bench.clock.advance(1)
    placed = await leaves(bench)
    assert placed.keys() == {"a", "b", "c"}
    await bench.clock.advance(WRITE_SECONDS)
    placed = await leaves(bench)
    assert placed.keys() == {"a", "b", "c", "slow"}
    assert set().union(*placed.values()) == {0, 1, 2, 3}


async def test_a_refusal_that_comes_late_gives_the_places_to_others(bench: Bench) -> None:
    """What was kept for a gang whose page is refused in the end is there for one that waits."""
    slow = SlowPage(bench.clock, refused=True)
    scheduler = await bench.start(answers=slow)
    slow.on = True
    await submit(bench.cluster, TEAM, gang("slow", 4))
    await bench.clock.advance(1)
    for name in ("a", "b", "c", "d"):
        await submit(bench.cluster, TEAM, gang(name, 4))
    await bench.clock.advance(WRITE_SECONDS - 2)
    assert (await leaves(bench)).keys() == {"a", "b", "c"}
    await bench.clock.advance(2)
    assert (await leaves(bench)).keys() == {"a", "b", "c", "d"}
    assert sum(note.lost for note in scheduler.reporter.cycles()) == 1


class OnePage:
    """Pages with `slow` in their name take long to write; one with `bad` is refused once."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.slow = self.bad = self.denied = ""

    async def before(self, request: ApiRequest) -> None:
        """Take the time, or refuse."""
        if request.subresource == "binding" and request.target.name == self.denied:
            raise Refused("denied", 422, "Invalid")
        if request.kind is not LEASES or request.verb != "update":
            return
        if self.slow and self.slow in request.target.name:
            await self.clock.sleep(WRITE_SECONDS)
        if self.bad and self.bad in request.target.name:
            self.bad = ""
            raise Conflict("changed", 409, "Conflict")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_who_was_planned_beside_it_need_not_wait(bench: Bench) -> None:
    """Two gangs of one batch: the page of one is slow, that of the other has changed meanwhile."""
    api = OnePage(bench.clock)
    await bench.start(answers=api)
    api.slow, api.bad = "leaf-0-0", "leaf-0-1"
    x, y = gang("x", 4), gang("y", 4)
    for body, leaf in [*((one, "leaf-0-0") for one in x), *((one, "leaf-0-1") for one in y)]:
        body["spec"]["nodeSelector"] = {LEAF: leaf}
    await submit(bench.cluster, TEAM, [*x, *y])
    await bench.clock.advance(3)
    assert (await leaves(bench)).keys() == {"y"}


async def test_nodes_and_rollbacks_do_not_wait_for_it(bench: Bench) -> None:
    """A node comes to a leaf whose page is slow: of the leaves beside it all three can be used.

    One of three gangs goes back, and the next one has its places.
    """
    api = OnePage(bench.clock)
    await bench.start(answers=api)
    api.slow, api.denied = "leaf-0-1", "bad-0"
    await submit(bench.cluster, TEAM, gang("slow", 4))
    await bench.clock.advance(1)
    (comes,) = [one for one in nodes(1, 4, 5) if one["metadata"]["name"] == "n-0-1-4"]
    await bench.cluster.create(NODES, "", comes)
    await bench.clock.advance(1)
    await submit(bench.cluster, TEAM, [*gang("bad", 4), *gang("b", 4), *gang("c", 4)])
    await bench.clock.advance(2)
    await submit(bench.cluster, TEAM, gang("d", 4))
    await bench.clock.advance(3)
    assert (await leaves(bench)).keys() == {"b", "c", "d"}


async def test_nobody_goes_for_places_that_are_being_written_down(bench: Bench) -> None:
    """A pair of nodes is left for `z` if `v` goes, were it not for `y`, whose page is slow."""
    api = OnePage(bench.clock)
    scheduler = await bench.start(answers=api)
    await bench.classes(low=1, high=10)
    for name in ("a", "b", "c"):
        await bench.submit(name, 4, priority="high")
    await bench.submit("v", 2, priority="low")
    uids = await bench.uids("v")
    api.slow = "page-"
    taken: list[int] = []
    cycle = scheduler.reporter.cycle

    def noting(report: CycleReport) -> None:
        if report.plan and any(one.gang.name == "y" for one in report.plan.placements):
            running = scheduler.cache.reading().snapshot.running
            taken.append(sum(1 for pod in running if pod.gang and pod.gang.name == "y"))
        cycle(report)

    scheduler.reporter.cycle = noting  # type: ignore[method-assign]
    for name, size in (("z", 4), ("y", 2)):
        await bench.submit(name, size, priority="high")
    await bench.clock.advance(WRITE_SECONDS - 2)
    assert await bench.uids("v") == uids
    assert taken == [2]


async def test_the_next_batch_does_not_wait_for_slow_records(bench: Bench) -> None:
    """Batches of one gang, each with pages that take ten seconds: three of them take eleven."""
    config = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\nspec: {{batch: {{size: 1}}}}\n"
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": config}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    api = OnePage(bench.clock)
    await bench.start(answers=api)
    api.slow = "page-"
    await submit(bench.cluster, TEAM, [*gang("a", 4), *gang("b", 4), *gang("c", 4)])
    await bench.clock.advance(WRITE_SECONDS + 1)
    assert (await leaves(bench)).keys() == {"a", "b", "c"}


async def test_a_page_that_is_long_in_clearing_holds_up_no_rollback(bench: Bench) -> None:
    """The page of pods that are gone is slow. A gang in another leaf goes back meanwhile."""

    def within(leaf: str, name: str) -> list[Body]:
        bodies = gang(name, 4)
        for body in bodies:
            body["spec"]["nodeSelector"] = {LEAF: leaf}
        return bodies

    api = OnePage(bench.clock)
    await bench.start(answers=api)
    await submit(bench.cluster, TEAM, within("leaf-0-0", "ends"))
    await bench.clock.advance(3)
    api.slow, api.denied = "leaf-0-0", "bad-0"
    for number in range(4):
        await bench.cluster.delete(PODS, Target(TEAM, f"ends-{number}"))
    await bench.clock.advance(2)
    await submit(bench.cluster, TEAM, within("leaf-0-1", "bad"))
    await bench.clock.advance(1.5)
    await submit(bench.cluster, TEAM, within("leaf-0-1", "next"))
    await bench.clock.advance(3.5)
    assert await leaves(bench) == {"next": {1}}
