"""Claims of a gang are allocated and freed with it, whoever dies, stands still or comes next."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.commit import CommitRequest
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from fourleaf.k8s_bridge.ledger.formats.codec import read_page
from fourleaf.k8s_bridge.ledger.names import FENCE, PAGE
from tests.k8s_bridge.ledger.claiming import ClaimWorld, Interrupt, started
from tests.k8s_bridge.ledger.harness import Death, Killed, Leader, on


async def plan_of(world: ClaimWorld) -> list[CommitRequest]:
    """A wide gang of four and a narrow one of two."""
    wide = await world.claiming("wide", [*on(0, size=2), *on(1, size=2)])
    return [wide, await world.claiming("narrow", on(2, size=2))]


async def writes_of(rolls_back: bool) -> int:
    """How many writes a leader makes from takeover to rest, without any fault."""
    world = await started()
    death = Death(at=0)
    await run(world, death, rolls_back)
    world.check()
    world.check_claims()
    return len(death.writes)


async def run(world: ClaimWorld, death: Death, rolls_back: bool) -> list[CommitRequest]:
    """Let a leader place two gangs until it dies; a node may be lost as its claim is written."""
    plan = await plan_of(world)
    leader = Leader(world, "a", death)
    if rolls_back:
        leader.cluster.interceptors.append(_LosesNode(world))
    with contextlib.suppress(Killed):
        await leader.take_over()
        await leader.commit(*plan)
        await leader.rest()
    await leader.stop()
    return plan


class _LosesNode:
    """Loses the last node of the wide gang once the claim for it has its devices."""

    def __init__(self, world: ClaimWorld) -> None:
        self._world = world

    async def before(self, request: ApiRequest) -> None:
        """Let everything through."""

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Lose the node."""
        if request.subresource == "status" and request.target.name == "wide-3":
            self._world.true_pods.dead_nodes.add("n-0-1-1")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("rolls_back", [False, True])
async def test_killed_at_every_write(after: bool, rolls_back: bool) -> None:
    """Before and after each write: a successor brings claims and pods to agree, and goes on."""
    count = await writes_of(rolls_back)
    assert count >= 4 + 3 + 2 + 6 * 3
    for at in range(1, count + 1):
        world = await started()
        plan = await run(world, Death(at, after), rolls_back)
        successor = await Leader(world, "b").take_over()
        await successor.rest()
        world.check(plan)
        world.check_claims()
        world.true_pods.dead_nodes.clear()
        waiting = unbound(world, plan)
        await successor.commit(*waiting)
        await successor.rest()
        world.check()
        world.check_claims()
        assert not unbound(world, waiting)


def unbound(world: ClaimWorld, plan: Sequence[CommitRequest]) -> list[CommitRequest]:
    """Gangs of which nobody is bound and all are left, as they stand now."""
    pods = {body["metadata"]["name"]: body for body in world.pods()}
    found = []
    for wanted in plan:
        names = [member.pod.name for member in wanted.members]
        nodes = [member.node for member in wanted.members]
        if all(name in pods and not pods[name]["spec"].get("nodeName") for name in names):
            found.append(world.again(wanted.gang.name, nodes))
    return found


async def test_a_leader_that_stood_still_gives_nothing_away() -> None:
    """Meanwhile its commit was taken back, and another gang got the same devices.

    It goes on with a write that was on its way. Nothing is held twice, wherever it stood still.
    """
    writes: list[str] = []
    taken: list[str] = []
    at = 0
    while at <= len(writes):
        at += 1
        world = await started()
        mine = await world.claiming("mine", on(0, size=2))
        other = await world.claiming("other", on(0, size=2))
        heir = Leader(world, "b")

        async def take_away(
            world: ClaimWorld = world, heir: Leader = heir, other: CommitRequest = other
        ) -> None:
            world.true_pods.dead_nodes.add("n-0-0-1")
            await heir.take_over()
            await heir.rest()
            world.true_pods.dead_nodes.clear()
            if not any(page.entries for page in world.pages()):
                taken.append("other")
                await heir.commit(other)
                await heir.rest()

        interrupt = Interrupt(at, take_away)
        leader = Leader(world, "a")
        leader.cluster.interceptors.append(interrupt)
        with contextlib.suppress(Fenced):
            await leader.take_over()
            await leader.commit(mine)
            await leader.rest()
        await leader.stop()
        if len(interrupt.writes) < at:
            break
        writes = interrupt.writes
        await heir.rest()
        world.check()
        world.check_claims()
    assert "patch resourceclaims/status" in writes
    assert at > 4 + 1 + 4 + 2
    assert len(taken) > 4 + 4


async def test_a_lost_answer_is_read_back() -> None:
    """The allocation took, though nobody said so: it is found, and the pod bound."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    lost: list[str] = []

    class Loses:
        async def before(self, request: ApiRequest) -> None:
            """Let everything through."""

        async def after(self, request: ApiRequest, answer: object) -> None:
            """Lose the first answer to each claim's allocation."""
            if request.subresource == "status" and request.target.name not in lost:
                lost.append(request.target.name)
                raise Ambiguous("the connection broke")

    leader = await Leader(world, "a").take_over()
    leader.cluster.interceptors.append(Loses())
    await leader.commit(wanted)
    await leader.rest()
    assert sorted(lost) == ["g-0", "g-1"]
    assert all(body["spec"].get("nodeName") for body in world.pods())
    world.check_claims()


async def test_the_fence_comes_after_the_claims_are_free() -> None:
    """Whoever sees a pod fenced may take its entry off the page: so its claim must be free."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    leader = await Leader(world, "a").take_over()
    await leader.decide(wanted)
    world.true_pods.dead_nodes.add("n-0-0-1")
    seen: list[tuple[str, bool]] = []

    class Watches:
        async def before(self, request: ApiRequest) -> None:
            """Note which fence is about to be written, and whether its claim is free by then."""
            if request.kind is PODS and request.verb == "patch":
                claim = next(
                    c for c in world.claims() if c["metadata"]["name"] == request.target.name
                )
                fence = request.body["metadata"]["annotations"][FENCE]
                fenced = FENCE in (claim["metadata"].get("annotations") or {})
                seen.append((fence.partition("/")[2], fenced))

        async def after(self, request: ApiRequest, answer: object) -> None:
            """Nothing."""

    leader.cluster.interceptors.append(Watches())
    await leader.rest()
    assert seen == [("claims", False), ("", True)]
    world.check_claims()


async def test_records_say_which_devices_claims_get() -> None:
    """A page that is written and read again names claims, requests and devices."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    leader = await Leader(world, "a").take_over()
    await leader.commit(wanted)
    pages: list[Body] = world.leases(PAGE)
    (entry,) = [one for body in pages for one in read_page(body).entries]
    assert entry.members == wanted.members
    assert replace(entry.members[0], claims=()) != wanted.members[0]
