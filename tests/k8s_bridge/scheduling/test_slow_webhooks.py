"""A webhook that takes its time over bindings: its gang waits alone, and the answer counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.virtual_clock import VirtualClock

WEBHOOK_SECONDS = 10.0


class Slow:
    """A webhook that answers late to the dry run of each binding of the gang `slow`."""

    def __init__(self, clock: VirtualClock, denies: bool = False) -> None:
        self.clock = clock
        self.denies = denies
        self.asked: list[str] = []

    async def before(self, request: ApiRequest) -> None:
        """Take the time."""
        name = request.target.name
        if request.dry_run and request.subresource == "binding" and name.startswith("slow-"):
            self.asked.append(name)
            await self.clock.sleep(WEBHOOK_SECONDS)
            if self.denies:
                raise Refused("the webhook denies it", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def bound(bench: Bench) -> set[str]:
    """The names of the pods that stand on a node."""
    items = (await bench.cluster.list(PODS, TEAM)).items
    return {body["metadata"]["name"] for body in items if body["spec"].get("nodeName")}


async def message(bench: Bench, name: str) -> str:
    """What the condition of a pod says."""
    body = await bench.cluster.get(PODS, Target(TEAM, name))
    conditions = body["status"].get("conditions", [])
    return "".join(one.get("message", "") for one in conditions if one["type"] == "PodScheduled")


async def test_a_slow_webhook_holds_its_own_gang_alone(bench: Bench) -> None:
    """Gangs beside it, and such as come later, start at once; it starts as soon as it may."""
    slow = Slow(bench.clock)
    await bench.start(dry_run="always", answers=slow)
    await submit(bench.cluster, TEAM, [*gang("slow", 4), *gang("good", 4)])
    await bench.clock.advance(3)
    assert await bound(bench) == {f"good-{i}" for i in range(4)}
    assert "no answer yet" in await message(bench, "slow-0")
    await submit(bench.cluster, TEAM, gang("later", 4))
    await bench.clock.advance(3)
    assert {f"later-{i}" for i in range(4)} <= await bound(bench)
    await bench.clock.advance(WEBHOOK_SECONDS - 3)
    assert {f"slow-{i}" for i in range(4)} <= await bound(bench)
    assert len(slow.asked) == 4


async def test_a_late_refusal_counts(bench: Bench) -> None:
    """What the webhook denies in the end is refused; asked again, the refusal is what is told."""
    slow = Slow(bench.clock, denies=True)
    await bench.start(dry_run="always", answers=slow)
    await submit(bench.cluster, TEAM, gang("slow", 4))
    await bench.clock.advance(WEBHOOK_SECONDS + 0.7)
    assert "the webhook denies it" in await message(bench, "slow-0")
    await bench.clock.advance(5)
    assert len(slow.asked) == 8
    assert "the webhook denies it" in await message(bench, "slow-0")
    assert not await bound(bench)


class Hanging:
    """A webhook that lets bindings of the namespace `bad` hang, or else all other writes to pods.

    Where bindings do not hang, the first member of each gang is refused, elsewhere once.
    """

    def __init__(self, clock: VirtualClock, bindings: bool) -> None:
        self.clock = clock
        self.bindings = bindings
        self.refused: set[str] = set()

    async def before(self, request: ApiRequest) -> None:
        """Deny, or take the time and give no answer."""
        binds, name = request.subresource == "binding", request.target.name
        is_bad = request.target.namespace == "bad"
        is_first = binds and not self.bindings and name.endswith("-0")
        if is_first and (is_bad or name not in self.refused):
            self.refused.add(name)
            raise Refused("the webhook denies it", 422, "Invalid")
        if is_bad and request.kind is PODS and request.writes and binds is self.bindings:
            await self.clock.sleep(WEBHOOK_SECONDS)
            raise Throttled("no answer from the webhook", 503)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_gangs_that_cannot_be_let_go_keep_no_other_waiting(bench: Bench) -> None:
    """Ten go back in a namespace whose webhook hangs; one beside them starts at its second try."""
    await bench.start(answers=Hanging(bench.clock, False))
    await submit(bench.cluster, "bad", [one for n in range(10) for one in gang(f"b{n}", 2, 1)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, gang("good", 1))
    await bench.clock.advance(5)
    assert await bound(bench) == {"good-0"}


async def test_bindings_that_hang_leave_turns_to_others(bench: Bench) -> None:
    """80 bindings of one namespace hang, of 64 writes at a time; a gang of another starts."""
    await bench.start(answers=Hanging(bench.clock, True))
    await submit(bench.cluster, "bad", [one for n in range(8) for one in gang(f"b{n}", 11, 1)])
    await bench.clock.advance(1)
    await submit(bench.cluster, TEAM, [pod("good", 1)])
    await bench.clock.advance(1)
    assert await bound(bench) == {"good"}
