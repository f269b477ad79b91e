"""No pod moves where a part of the plan is refused, or for a gang that has gone or cannot start."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.relocation import Budget, DefragPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench, Solved
from tests.k8s_bridge.relocation.test_moving import ask, configure


class Quota:
    """A quota of objects: so many Leases of relocations more, once `left` is set."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.evicted: list[str] = []

    async def before(self, request: ApiRequest) -> None:
        """Refuse what is beyond it, and note evictions."""
        if request.subresource == "eviction" and request.writes:
            self.evicted.append(request.target.name)
        if self.left is None or request.kind is not LEASES or request.verb != "create":
            return
        if request.body["metadata"]["name"].startswith("relocation-"):
            if not self.left:
                raise Refused("exceeded quota", 403, "Forbidden")
            self.left -= 1

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def scattered(bench: Bench) -> None:
    """Two of 4 nodes of each leaf are taken, by `a`, by `b1` and `b2`, by `c`; `four` waits."""
    for name, size in (("a", 2), ("x", 2), ("b1", 1), ("b2", 1), ("y", 2), ("c", 2), ("z", 2)):
        await bench.submit(name, size, movable="true")
    for name in "xyz":
        await bench.finish(name)
    await bench.submit("four", 4)
    await bench.clock.advance(60)
    assert not await bench.places("four")


@pytest.mark.parametrize("left", [1, 2])
async def test_moves_of_which_one_is_not_written_end(left: int) -> None:
    """Two pods have to move together for `four`: one of the three Leases is refused, none goes."""
    bench, quota = Bench(1, 3), Quota()
    await bench.start(answers=quota)
    await configure(bench)
    await scattered(bench)
    quota.left = left
    await ask(bench)
    await bench.clock.advance(20)
    assert bench.solved.gatherings
    assert not quota.evicted
    assert not await bench.open_relocations()
    quota.left = None
    await ask(bench)
    await bench.clock.advance(20)
    assert len(quota.evicted) == 2
    assert len(await bench.places("four")) == 4
    await bench.stop()


async def test_no_moves_for_a_gang_that_is_gone() -> None:
    """`four` is deleted while the solver finds moves for it: nothing moves."""
    bench, quota = Bench(1, 3), Quota()

    class Late(type(bench.solved)):
        async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
            """The moves, a second later than `four` was deleted."""
            plan = await super().defragment(snapshot, budget)
            if plan.placements:
                await bench.delete("four")
                await bench.clock.sleep(1)
            return plan

    bench.solved = Late()
    await bench.start(answers=quota)
    await configure(bench)
    await scattered(bench)
    await ask(bench)
    await bench.clock.advance(20)
    assert any(plan.placements for plan in bench.solved.gatherings)
    assert not quota.evicted
    await bench.stop()


async def test_none_moves_for_a_repair_that_is_not_written() -> None:
    """`g` of 3 needs a node of its leaf that `a` has, on whose Lease a quota ends: `a` stays."""
    bench, quota = Bench(1, 2), Quota()
    await bench.start(answers=quota)
    await bench.submit("g", 3)
    await bench.submit("a", 1, movable="true")
    await bench.submit("b", 1)
    assert await bench.leaves("g") == await bench.leaves("a") == [0]
    quota.left = 1
    bench.lose((await bench.places("g"))[0])
    await bench.clock.advance(40)
    assert any(plan.moves for plan in bench.solved.repairs)
    assert not [name for name in quota.evicted if name.startswith("a-")]
    quota.left = None
    await bench.clock.advance(20)
    assert len(await bench.places("g")) == 3
    await bench.stop()


class LostAnswer(Quota):
    """One creation of the relocation of `gang` is not answered; a webhook has annotated it."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.store, self.gang = bench.cluster.store, ""

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Lose it."""
        name = request.target.name or (request.body or {}).get("metadata", {}).get("name", "")
        is_it = bool(self.gang) and name.startswith(f"relocation-{self.gang}-")
        if is_it and (request.kind, request.verb) == (LEASES, "create"):
            self.gang = ""
            found = self.store.find(LEASES, Target("kube-system", name))
            assert found is not None
            body = found.whole()
            body["metadata"].setdefault("annotations", {})["policy.example/seen"] = "yes"
            self.store.update(LEASES, found, body)
            raise Ambiguous("connection reset", 0, "")


async def test_moves_whose_record_is_there_after_all_are_made() -> None:
    """The Lease of one was written and the answer got lost: it is the very same, and both go."""
    bench = Bench(1, 3)
    lost = LostAnswer(bench)
    await bench.start(answers=lost)
    await configure(bench)
    await scattered(bench)
    lost.gang = "b1"
    await ask(bench)
    await bench.clock.advance(20)
    assert not lost.gang
    assert len(lost.evicted) == 2
    assert len(await bench.places("four")) == 4
    await bench.stop()


class Taken(Solved):
    """A solver whose first plan that moves pods comes three seconds late.

    A pod of another tenant starts on the node `name` meanwhile.
    """

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench, self.name = bench, ""

    async def _take(self) -> None:
        name, self.name = self.name, ""
        if name:
            new = pod("new", 8)
            new["spec"]["nodeSelector"] = {"kubernetes.io/hostname": name}
            await submit(self.bench.cluster, "other", [new])
            await self.bench.clock.sleep(3)

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """A repair."""
        plan = await super().repair(snapshot)
        if plan.moves:
            await self._take()
        return plan

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Moves that make room."""
        plan = await super().defragment(snapshot, budget)
        if plan.moves:
            await self._take()
        return plan


async def test_no_moves_of_which_one_has_lost_its_place() -> None:
    """Two pods are to move for `four`; the place of one of them is taken: the other one stays."""
    bench, quota = Bench(1, 3), Quota()
    bench.solved = solver = Taken(bench)
    await bench.start(answers=quota)
    await configure(bench)
    await scattered(bench)
    solver.name = "n-0-2-2"
    await ask(bench)
    await bench.clock.advance(30)
    (plan,) = (plan for plan in solver.gatherings if plan.moves)
    assert {move.target for move in plan.moves} == {"n-0-2-2", "n-0-2-3"}
    assert not quota.evicted
    whys = [event["note"] for event in await bench.events("RelocationGivenUp")]
    assert any("a move without which it is of no use was given up" in why for why in whys)
    await bench.stop()


async def test_none_moves_for_a_repair_that_has_lost_its_place() -> None:
    """`g` of 2 and `m`, which makes way for it, are to move; a place of `g` is taken: `m` stays."""
    bench, quota = Bench(1, 2), Quota()
    bench.solved = solver = Taken(bench)
    await bench.start(answers=quota)
    await bench.submit("g", 2)
    await bench.submit("m", 1, movable="true")
    await bench.submit("x", 1)
    await bench.submit("k", 3)
    await bench.end("x")
    await bench.clock.advance(20)
    (leaf,) = await bench.leaves("g")
    lost = (await bench.places("g")).values()
    used = {*lost, *(await bench.places("m")).values()}
    (solver.name,) = {f"n-0-{leaf}-{number}" for number in range(4)} - used
    bench.lose(*lost)
    await bench.clock.advance(60)
    assert any(plan.moves for plan in solver.repairs)
    assert not [name for name in quota.evicted if name.startswith("m-")]
    await bench.stop()


class Denies(Quota):
    """A webhook that denies the bindings of pods whose names start so, once there is a name."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.name = name

    async def before(self, request: ApiRequest) -> None:
        """Deny it, those of dry runs too."""
        await super().before(request)
        is_meant = self.name and request.target.name.startswith(self.name)
        if request.subresource == "binding" and is_meant:
            raise Refused("webhook denied", 403, "Forbidden")


async def test_no_moves_for_a_gang_that_the_api_would_refuse() -> None:
    """`four` could start by two moves, and is never bound: no pod moves, however often asked."""
    bench, denies = Bench(1, 3), Denies("four-")
    await bench.start(answers=denies, dry_run="always")
    await configure(bench)
    await scattered(bench)
    for _ in range(2):
        await ask(bench)
        await bench.clock.advance(20)
    assert any(plan.placements for plan in bench.solved.gatherings)
    assert not denies.evicted
    await bench.stop()


async def test_no_moves_for_a_member_that_the_api_would_refuse() -> None:
    """`g` of 3 has lost a member, another pod has its node, and it is never bound: `a` stays.

    It has the only other node of the leaf, and could move.
    """
    bench, denies = Bench(1, 2), Denies()
    await bench.start(answers=denies, dry_run="always")
    await bench.submit("g", 3)
    await bench.submit("a", 1, movable="true")
    assert await bench.leaves("g") == await bench.leaves("a")
    denies.name = "g-"
    node = (await bench.places("g"))[0]
    other = pod("other", 8)
    other["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    await submit(bench.cluster, "other", [other])
    (lost,) = [one for one in await bench.pods("g") if one["spec"]["nodeName"] == node]
    await bench.cluster.delete(PODS, Target(TEAM, lost["metadata"]["name"]))
    await bench.clock.advance(90)
    assert any(plan.moves for plan in bench.solved.repairs)
    assert not denies.evicted
    denies.name = ""
    await bench.clock.advance(70)
    assert len(await bench.places("g")) == 3
    assert len(denies.evicted) == 1
    await bench.stop()
