"""Drains and defragmentation: the whole scheduler on the twin, in virtual time."""

from __future__ import annotations

from datetime import UTC, datetime

from fourleaf.k8s_bridge.cache.config_watcher import DEFRAGMENT
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_repair import BusyFor

LONG = 620.0
"""Seconds, longer than `backfill.afterSeconds`."""
CONFIG = """
apiVersion: topology.scheduler/v1alpha1
kind: SchedulerConfig
spec:
  defragmentation: {{movesPerHour: {moves}, perGangPerDay: 1, minimumRuntimeSeconds: 60}}
"""


async def drain(bench: Bench, node: str) -> None:
    """Do what `fourleaf drain --apply` does."""
    patch = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", node), patch)


async def configure(bench: Bench, moves: int = 8) -> None:
    """Write the config: so many moves an hour."""
    data = {"config.yaml": CONFIG.format(moves=moves)}
    body = {"metadata": {"name": CONFIG_MAP}, "data": data}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)


async def allow(bench: Bench, moves: int) -> None:
    """Write into the config that is there: so many moves an hour."""
    data = {"config.yaml": CONFIG.format(moves=moves)}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), {"data": data})


async def test_a_drained_node_is_left_by_those_who_find_a_place(bench: Bench) -> None:
    """A gang of 2: the one on the node moves within the leaf, and only once its seat is free."""
    await bench.submit("g", 2)
    before, uids = await bench.places("g"), await bench.uids("g")
    await drain(bench, before[0])
    await bench.clock.advance(10)
    after = await bench.places("g")
    assert after[1] == before[1]
    assert after[0] not in before.values()
    assert (await bench.uids("g"))[1] == uids[1]


async def test_nobody_leaves_a_drained_node_for_the_street(bench: Bench) -> None:
    """The fabric is full: everybody stays, until there is a place."""
    await bench.submit("h", 12)
    await bench.submit("g", 4)
    uids, before = await bench.uids("g"), await bench.places("g")
    await drain(bench, before[0])
    await bench.clock.advance(20)
    assert await bench.uids("g") == uids
    await bench.finish("h")
    await bench.clock.advance(20)
    assert before[0] not in (await bench.places("g")).values()
    assert len(await bench.places("g")) == 4


async def halves(bench: Bench, **annotations: str) -> None:
    """Leaves 0 and 1 half taken by gangs `a` and `b`, 2 and 3 taken by `c`."""
    for name in ("a", "x", "b", "y"):
        await bench.submit(name, 2, **annotations)
    await bench.submit("c", 8)
    assert sorted([*await bench.leaves("a"), *await bench.leaves("b")]) == [0, 1]
    for name in "xy":
        await bench.finish(name)


async def ask(bench: Bench) -> None:
    """Do what `fourleaf defrag --apply` does."""
    moment = datetime.fromtimestamp(bench.clock.wall(), UTC).isoformat()
    patch = {"metadata": {"annotations": {DEFRAGMENT: moment}}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), patch)


async def test_movable_gangs_make_way_for_one_that_waits(bench: Bench) -> None:
    """A gang of 4 waits; one of two that each fill half a leaf joins the other, in 2 moves."""
    await configure(bench)
    await halves(bench, movable="true")
    uids = {name: await bench.uids(name) for name in "abc"}
    await bench.submit("four", 4)
    await bench.clock.advance(60)
    assert not await bench.places("four")
    await ask(bench)
    await bench.clock.advance(20)
    assert len(await bench.places("four")) == 4
    moved = [name for name in "abc" if await bench.uids(name) != uids[name]]
    assert len(moved) == 1
    assert await bench.leaves("a") == await bench.leaves("b")
    assert len(await bench.leaves("a")) == 1


async def test_a_request_outlasts_what_is_under_way(bench: Bench) -> None:
    """A gang is repaired for longer than requests count; the moves come once that is over."""
    await configure(bench)
    await halves(bench, movable="true")
    await bench.submit("four", 4)
    bench.jobs.backoff = 600
    await bench.delete("c")
    await bench.submit("lost", 2)
    bench.lose((await bench.places("lost"))[0])
    await bench.clock.advance(30)
    assert await bench.open_relocations() == ["lost"]
    await ask(bench)
    await bench.clock.advance(100)
    assert len(bench.solved.gatherings) == 0
    bench.jobs.backoff = 0
    await bench.clock.advance(10)
    assert not await bench.open_relocations()
    assert bench.solved.gatherings


async def test_nobody_moves_while_a_gang_is_being_bound() -> None:
    """Neither to make room nor off a drained node: its last member stands nowhere yet."""
    bench = Bench()
    busy = BusyFor(3)
    await bench.start(answers=busy)
    await configure(bench)
    await halves(bench, movable="true")
    await bench.submit("late", 4, gpus=0, movable="true")
    places = await bench.places("late")
    assert len(places) == 3
    await bench.submit("four", 4)
    uids = {name: await bench.uids(name) for name in ("a", "b", "c", "late")}
    await bench.clock.advance(60)
    await ask(bench)
    await drain(bench, places[0])
    await bench.clock.advance(20)
    assert {name: await bench.uids(name) for name in ("a", "b", "c", "late")} == uids
    assert not bench.solved.repairs
    busy.index = "none"
    await bench.clock.advance(60)
    assert len(await bench.places("late")) == 4
    assert {name: await bench.uids(name) for name in ("a", "b", "c", "late")} != uids
    await bench.stop()


async def test_who_has_waited_for_long_is_helped_too(bench: Bench) -> None:
    """A place is kept for the gang of 4 by then; moves let it start, and nothing is kept."""
    await configure(bench)
    await halves(bench, movable="true")
    await bench.submit("four", 4)
    await bench.clock.advance(LONG)
    assert await bench.reservations() == [f"{TEAM}/four"]
    await ask(bench)
    await bench.clock.advance(20)
    assert len(await bench.places("four")) == 4
    assert not await bench.reservations()


async def test_nobody_moves_onto_a_place_that_stays_reserved(bench: Bench) -> None:
    """No moves help the gang of 12; those that would help one of 4 would go where it waits."""
    await configure(bench)
    await halves(bench, movable="true")
    uids = {name: await bench.uids(name) for name in "abc"}
    await bench.submit("twelve", 12)
    await bench.submit("four", 4)
    await bench.clock.advance(LONG)
    assert await bench.reservations() == [f"{TEAM}/twelve"]
    await ask(bench)
    await bench.clock.advance(20)
    with_moves, without = bench.solved.gatherings
    assert (len(with_moves.moves), len(without.moves)) == (2, 0)
    assert {name: await bench.uids(name) for name in "abc"} == uids
    assert await bench.reservations() == [f"{TEAM}/twelve"]


async def test_who_has_run_too_shortly_or_may_not_stays(bench: Bench) -> None:
    """Asked for at once, before the minimum runtime: nobody moves, and nobody later either."""
    await configure(bench)
    await halves(bench, movable="true")
    uids = {name: await bench.uids(name) for name in "abc"}
    await bench.submit("four", 4)
    await ask(bench)
    await bench.clock.advance(120)
    assert {name: await bench.uids(name) for name in "abc"} == uids


async def test_who_has_not_said_so_does_not_move(bench: Bench) -> None:
    """Without `movable`, nothing happens."""
    await configure(bench)
    await halves(bench)
    uids = {name: await bench.uids(name) for name in "abc"}
    await bench.submit("four", 4)
    await bench.clock.advance(70)
    await ask(bench)
    await bench.clock.advance(30)
    assert {name: await bench.uids(name) for name in "abc"} == uids


async def test_a_budget_outlasts_who_has_spent_it(bench: Bench) -> None:
    """Two moves an hour, which the first leader makes: the second makes none, until it may more.

    `d`, alone on the first leaf, would only have to join whoever has moved before.
    """
    await configure(bench, moves=2)
    await halves(bench, movable="true")
    await bench.submit("four", 4)
    await bench.clock.advance(60)
    uids = {name: await bench.uids(name) for name in "ab"}
    await ask(bench)
    await bench.clock.advance(20)
    assert len(await bench.places("four")) == 4
    (stays,) = [name for name in "ab" if await bench.uids(name) == uids[name]]
    await bench.end("four")
    await bench.submit("d", 2, movable="true")
    await bench.end(stays)
    await bench.submit("again", 4)
    await bench.clock.advance(60)
    await bench.succeed("b")
    before = await bench.uids("d")
    await ask(bench)
    await bench.clock.advance(30)
    assert await bench.uids("d") == before
    assert not await bench.places("again")
    await allow(bench, 4)
    await ask(bench)
    await bench.clock.advance(20)
    assert await bench.uids("d") != before
    assert len(await bench.places("again")) == 4


async def test_pods_that_no_controller_makes_anew_stay_on_a_drained_node(bench: Bench) -> None:
    """A gang of two bare pods: none is evicted, and an event on the pod says why."""
    await submit(bench.cluster, TEAM, gang("bare", 2))
    await bench.clock.advance(3)
    uids, at = await pods(bench), await placed(bench)
    await drain(bench, at["bare-0"])
    await bench.clock.advance(60)
    assert (await pods(bench), await placed(bench)) == (uids, at)
    assert "has no controller that would make it anew" in str(
        (await bench.cluster.list(EVENTS)).items
    )


async def pods(bench: Bench) -> dict[str, str]:
    """Pod -> UID, of those that are not being deleted."""
    items = (await bench.cluster.list(PODS, TEAM)).items
    there = (one["metadata"] for one in items if "deletionTimestamp" not in one["metadata"])
    return {metadata["name"]: metadata["uid"] for metadata in there}


async def placed(bench: Bench) -> dict[str, str]:
    """Pod -> node."""
    items = (await bench.cluster.list(PODS, TEAM)).items
    return {one["metadata"]["name"]: one["spec"].get("nodeName", "") for one in items}


async def test_gangs_that_would_wait_for_each_other_keep_no_places(bench: Bench) -> None:
    """`c` could leave a node only for places of `a` and `b`, which would have to go to its own."""
    await halves(bench, movable="true")
    places = await bench.places("c")
    await drain(bench, places[0])
    await bench.clock.advance(30)
    assert bench.solved.repairs
    assert await bench.open_relocations() == []
    assert await bench.places("c") == places
