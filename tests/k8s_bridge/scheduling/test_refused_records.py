"""Records that the API refuses to write: all else goes on, and they are no storm of requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger import reconciler
from fourleaf.k8s_bridge.ledger.formats.codec import read_page
from fourleaf.k8s_bridge.ledger.names import GANGS, PAGES, page_name
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.scheduling.test_hanging_records import is_bound_to


class Refuses:
    """Requests about Leases that `are_meant` get a 403 while it is `on`; it counts them.

    The binding of the pod `denied` is refused for good.
    """

    def __init__(self, are_meant: Callable[[ApiRequest], bool], denied: str = "") -> None:
        self.are_meant, self.denied = are_meant, denied
        self.on, self.count = True, 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if request.subresource == "binding" and request.target.name == self.denied:
            raise Refused("denied", 422, "Invalid")
        if self.on and request.kind is LEASES and self.are_meant(request):
            self.count += 1
            raise Refused("a policy denies it", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def bound(bench: Bench, name: str) -> int:
    """How many pods of a gang stand somewhere."""
    pods = (await bench.cluster.list(PODS, TEAM)).items
    return sum(
        one["metadata"]["name"].startswith(f"{name}-") and bool(one["spec"].get("nodeName"))
        for one in pods
    )


async def test_a_rollback_that_may_not_be_written_ends_no_term(bench: Bench) -> None:
    """A wide gang has to go back, and its gang lease takes no write for a minute.

    It is tried every two seconds at most: 30 times and once. Then the gang goes back.
    """
    refuses = Refuses(
        lambda one: one.verb == "update" and "RollingBack" in str(one.body), denied="w-3"
    )
    scheduler = await bench.start(answers=refuses)
    epoch = scheduler.epoch
    await submit(bench.cluster, TEAM, gang("w", 8))
    await bench.clock.advance(60)
    assert scheduler.epoch == epoch
    assert 2 <= refuses.count <= 31
    assert await bound(bench, "w") == 7
    refuses.on = False
    await bench.clock.advance(65)
    assert await bound(bench, "w") == 0


async def test_gang_leases_that_may_not_be_deleted_are_no_storm(bench: Bench) -> None:
    """A delete that is refused is asked for again after a second at the earliest: 61 in a minute.

    Once it is allowed, the lease is gone within the 30 s to which that grows.
    """
    refuses = Refuses(lambda one: one.verb == "delete" and one.target.name.startswith("gang-"))
    await bench.start(answers=refuses)
    await submit(bench.cluster, TEAM, gang("w", 8))
    await bench.clock.advance(60)
    assert 2 <= refuses.count <= 61
    refuses.on = False
    await bench.clock.advance(31)
    assert not (await bench.cluster.list(LEASES, "kube-system", GANGS)).items


async def formats(bench: Bench) -> dict[str, int]:
    """Leaf -> the format of its page."""
    pages = map(read_page, (await bench.cluster.list(LEASES, "kube-system", PAGES)).items)
    return {page.leaf: page.format for page in pages}


async def test_pages_that_cannot_be_converted_leave_others_their_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page at a time, and the first is refused: the other three are in the new format.

    The first is tried once a second at most, eleven times in ten seconds.
    """
    monkeypatch.setattr(reconciler, "CONVERT_BATCH_RECORDS", 1)
    first = page_name("leaf-0-0", 0)
    refuses = Refuses(lambda one: one.verb == "update" and one.target.name == first)
    await bench.config("{ledger: {format: 1}}")
    await bench.start(answers=refuses)
    assert set((await formats(bench)).values()) == {1}
    spec = "{ledger: {format: 2}}"
    text = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\nspec: {spec}\n"
    target, patch = Target("kube-system", CONFIG_MAP), {"data": {"config.yaml": text}}
    await bench.cluster.patch(CONFIG_MAPS, target, patch)
    await bench.clock.advance(10)
    assert await formats(bench) == {"leaf-0-0": 1, "leaf-0-1": 2, "leaf-0-2": 2, "leaf-0-3": 2}
    assert 2 <= refuses.count <= 11
    assert await is_bound_to(bench, "n-0-1-0")
    refuses.on = False
    await bench.clock.advance(31)
    assert (await formats(bench))["leaf-0-0"] == 2
