"""Each safeguard of the commit protocol has a case that only it saves."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Conflict, Refused
from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Binding, Listing, Target
from fourleaf.k8s_bridge.ledger.binding import Binder, BindingResult, Bound
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from fourleaf.k8s_bridge.ledger.names import COMMIT, FENCE
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import Member
from tests.k8s_bridge.ledger.harness import SYSTEM, TEAM, Held, Leader, World, on


@pytest.fixture
async def world() -> World:
    """Four leaves of four nodes."""
    return await World().start()


def bound(world: World) -> dict[str, str]:
    """The nodes of all bound pods, by the pods' names."""
    return {
        body["metadata"]["name"]: body["spec"]["nodeName"]
        for body in world.pods()
        if body["spec"].get("nodeName")
    }


@dataclass
class Late:
    """Loses the first binding of `pod` on its way, and keeps it: it may still arrive."""

    pod: str
    kept: list[Binding] = field(default_factory=list)

    async def before(self, request: ApiRequest) -> None:
        """Lose the binding."""
        if isinstance(request.body, Binding) and request.target.name == self.pod and not self.kept:
            self.kept.append(request.body)
            raise Ambiguous("no answer")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers arrive."""


class RefusesDryRuns:
    """What somebody's webhook does to the dry run of one pod's binding."""

    def __init__(self, pod: str) -> None:
        self.pod = pod
        self.writes = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse the dry run."""
        self.writes += request.writes
        if request.dry_run and request.target.name == self.pod:
            raise Refused("admission webhook denied the request", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers arrive."""


class OldCache(MemoryCluster):
    """A server that answers reads from its cache with nothing: it has only just started."""

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """An empty list, unless a quorum read is asked for."""
        if cached:
            return Listing([], "1")
        return await super().list(kind, namespace, labels, fields=fields)


async def test_a_pod_of_the_same_name_is_not_bound_in_its_place(world: World) -> None:
    """A member is made anew while its binding is under way: the new pod is none of the commit's."""
    held = Held("create", "g-2")
    leader = Leader(world, "a")
    leader.cluster.interceptors.append(held)
    await leader.take_over()
    plan = await world.gang("g", on(0))
    await leader.commit(plan)
    await held.met.wait()
    await world.cluster.delete(PODS, plan.members[2].pod)
    await submit(world.cluster, TEAM, gang("g", 4)[2:3])
    held.go.set()
    await leader.rest()
    assert sorted(bound(world)) == ["g-0", "g-1", "g-3"]
    world.check()


async def test_a_binding_that_arrives_late_finds_its_pod_fenced(world: World) -> None:
    """The first try is lost, the node dies, the gang goes back: then the first try arrives."""
    late = Late("g-0")
    leader = Leader(world, "a")
    leader.cluster.interceptors.append(late)
    await leader.take_over()
    plan = await world.gang("g", on(0))
    await leader.decide(plan)
    leader.keeping.forward(leader.ledger.open_commits()[0].name)
    while not late.kept:
        await asyncio.sleep(0)
    world.true_pods.dead_nodes.update(on(0))
    await leader.rest()
    assert leader.rolled
    with pytest.raises(Conflict):
        await world.cluster.bind(late.kept[0])
    world.check([plan])


async def test_who_refuses_in_the_dry_run_is_heard_before_anything_is_written(
    world: World,
) -> None:
    """One member of eight is refused: no record and no binding is written, others go on."""
    refuses = RefusesDryRuns("wide-5")
    leader = Leader(world, "a")
    leader.cluster.interceptors.append(refuses)
    await leader.take_over()
    leader.committer.trials.dry_run._always = True
    wide, narrow = await world.gang("wide", on(0, 1)), await world.gang("narrow", on(2))
    refuses.writes = 0
    outcome = await leader.commit(wide, narrow)
    await leader.rest()
    assert ["webhook denied" in one.why for one in outcome.rejected] == [True]
    assert sorted(bound(world)) == [f"narrow-{i}" for i in range(4)]
    assert refuses.writes == 1 + 4
    world.check([wide, narrow])


async def test_a_takeover_reads_what_was_written_last(world: World) -> None:
    """The server's cache is old, and a gang is bound but for one member: that one follows."""
    held = Held("create", "wide-5")
    old = Leader(world, "old")
    old.cluster.interceptors.append(held)
    await old.take_over()
    plan = await world.gang("wide", on(0, 1))
    await old.commit(plan)
    await held.met.wait()
    await old.stop()
    new = Leader(world, "new")
    new.cluster = OldCache(world.cluster.store, identity="new")
    new.records = Records(new.cluster, SYSTEM, "new", world.clock)
    await new.take_over()
    await new.rest()
    world.check([plan])
    assert len(bound(world)) == 8


async def test_what_a_successor_has_killed_is_not_committed(world: World) -> None:
    """The old leader stops before the deciding write; its room is another's when it goes on."""
    held = Held("update", "gang-")
    old = Leader(world, "old")
    old.cluster.interceptors.append(held)
    await old.take_over()
    wide = await world.gang("wide", on(0, 1))
    commit = asyncio.ensure_future(old.commit(wide))
    await held.met.wait()
    new = await Leader(world, "new").take_over()
    other = await world.gang("other", on(0))
    await new.commit(other)
    held.go.set()
    with contextlib.suppress(Fenced):
        assert not (await commit).committed
    await asyncio.gather(*old.tasks, return_exceptions=True)
    await new.rest()
    world.check([wide, other])
    assert sorted(bound(world)) == [f"other-{i}" for i in range(4)]


async def test_what_is_decided_while_another_takes_over_stands(world: World) -> None:
    """Between the successor's lists and its first page: it finds the commit on pages alone."""
    old = await Leader(world, "old").take_over()
    held = Held("update", "page-")
    new = Leader(world, "new")
    new.cluster.interceptors.append(held)
    takeover = asyncio.ensure_future(new.take_over())
    await held.met.wait()
    wide = await world.gang("wide", on(0, 1))
    assert (await old.decide(wide)).committed
    held.go.set()
    await takeover
    await new.rest()
    world.check([wide])
    assert sorted(bound(world)) == [f"wide-{i}" for i in range(8)]


async def test_nothing_is_bound_on_a_page_that_was_taken_over(world: World) -> None:
    """The old leader stops before it writes its page; a successor gives the place to another."""
    held = Held("update", "page-")
    old = Leader(world, "old")
    await old.take_over()
    old.cluster.interceptors.append(held)
    first = await world.gang("first", on(0))
    commit = asyncio.ensure_future(old.commit(first))
    await held.met.wait()
    new = await Leader(world, "new").take_over()
    second = await world.gang("second", on(0))
    await new.commit(second)
    await new.rest()
    held.go.set()
    with contextlib.suppress(Fenced):
        await commit
    await asyncio.gather(*old.tasks, return_exceptions=True)
    world.check([first, second])
    assert sorted(bound(world)) == [f"second-{i}" for i in range(4)]


@dataclass
class Fencing:
    """A tenant fences pod `g-0` by the name of the commit whose bindings of it are all late."""

    world: World
    kept: list[Binding] = field(default_factory=list)

    async def before(self, request: ApiRequest) -> None:
        """Write the fence, and keep the binding on its way."""
        if isinstance(request.body, Binding) and request.target.name == "g-0":
            self.kept.append(request.body)
            fence = {"metadata": {"annotations": {FENCE: request.body.annotations[COMMIT]}}}
            if len(self.kept) == 1:
                await self.world.cluster.patch(PODS, Target(TEAM, "g-0"), fence)
            raise Ambiguous("no answer")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers arrive."""


async def test_nothing_is_bound_under_a_fence_that_a_tenant_wrote(world: World) -> None:
    """The way back takes such a pod for fenced: no binding that is late takes after it."""
    fencing = Fencing(world)
    leader = Leader(world, "a")
    leader.cluster.interceptors.append(fencing)
    await leader.take_over()
    plan = await world.gang("g", on(0))
    await leader.decide(plan)
    leader.keeping.forward(leader.ledger.open_commits()[0].name)
    for _ in range(500):
        await asyncio.sleep(0)
    world.true_pods.dead_nodes.update(on(0))
    await leader.rest()
    assert leader.rolled
    for late in fencing.kept:
        with pytest.raises(Conflict):
            await world.cluster.bind(late)
    world.check([plan])


class Early:
    """A binder to which one member turns out to be bound, while volumes of others take long."""

    def __init__(self, binder: Binder) -> None:
        self._binder = binder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._binder, name)

    def uses_volumes(self, _member: Member) -> bool:
        """All do."""
        return True

    async def provision(self, _commit: str, member: Member, *_: Any) -> BindingResult | None:
        """The answer for the first; none for the others."""
        if member.pod.name == "g-0":
            return BindingResult(member, Bound.BOUND)
        await asyncio.Event().wait()
        return None


async def test_a_gang_of_which_one_turned_out_to_be_bound_is_not_told_of(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others have yet to be: plugins hear of a gang that runs once it does."""
    leader = await Leader(world, "a").take_over()
    said = list[tuple[Member, ...]]()
    monkeypatch.setattr(leader.keeping, "binder", Early(leader.keeping.binder))
    monkeypatch.setattr(leader, "all_bound", lambda _commit, members: said.append(members))
    plan = await world.gang("g", on(0))
    await leader.decide(plan)
    (commit,) = leader.ledger.open_commits()
    await leader.keeping._forward(commit, plan.members)
    assert not said
