"""How often nodes have failed is loaded beside the judging, and none of it is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import CONTENT
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE
from tests.k8s_bridge.relocation.bench import Bench
from tests.k8s_bridge.scheduling.test_hanging_records import Hangs

BEFORE = "n-9-9-9"
"""A node that failed under an earlier leader."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of four nodes; one node failed just before there is a scheduler."""
    one = Bench()
    content = {"nodes": {BEFORE: [1.0, round(one.clock.wall())]}, "leaves": {}}
    annotations = {CONTENT: orjson.dumps(content).decode()}
    body = {"metadata": {"name": FAILURES_LEASE, "annotations": annotations}, "spec": {}}
    await one.cluster.create(LEASES, "kube-system", body)
    yield one
    await one.stop()


async def kept(bench: Bench) -> set[str]:
    """The nodes whose failures are kept."""
    lease = await bench.cluster.get(LEASES, Target("kube-system", FAILURES_LEASE))
    return set(orjson.loads(lease["metadata"]["annotations"][CONTENT])["nodes"])


async def lose_a_place(bench: Bench) -> str:
    """The node of the gang dies, and its pod moves within 25 s; its name."""
    await bench.submit("g", 1)
    (name,) = (await bench.places("g")).values()
    bench.lose(name)
    await bench.clock.advance(25)
    (now,) = (await bench.places("g")).values()
    assert now != name
    return name


async def test_a_record_that_hangs_when_it_is_read_makes_no_death_late(bench: Bench) -> None:
    """Nor is what it holds lost, or what fails meanwhile, once there is an answer."""
    hangs = Hangs(FAILURES_LEASE, "get")
    hangs.on = True
    await bench.start(answers=hangs)
    name = await lose_a_place(bench)
    assert await kept(bench) == {BEFORE}
    hangs.go.set()
    await bench.clock.advance(3)
    assert await kept(bench) == {BEFORE, name}


class Fails:
    """The Lease cannot be read while it is `on`."""

    on = True

    async def before(self, request: ApiRequest) -> None:
        """Do not answer."""
        if self.on and request.verb == "get" and request.target.name == FAILURES_LEASE:
            raise Ambiguous("no answer", 500)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_what_could_not_be_read_for_a_while_is_not_written_over(bench: Bench) -> None:
    """Reads fail for half a minute, in which a node dies: both failures are kept."""
    fails = Fails()
    await bench.start(answers=fails)
    name = await lose_a_place(bench)
    await bench.clock.advance(5)
    fails.on = False
    await bench.clock.advance(20)
    assert await kept(bench) == {BEFORE, name}
