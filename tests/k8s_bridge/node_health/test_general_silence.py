"""A network that comes apart looks like many deaths at once, and has to be taken for none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Mapping
from types import MappingProxyType

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.node_health.general_silence import general_silence
from fourleaf.k8s_bridge.node_health.judge import Cause, Judgement, NodeVerdict, Signs
from tests.k8s_bridge.relocation.bench import Bench

HEARD, SILENT = Signs(), Signs(silence=15)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves of four nodes, no scheduler yet."""
    one = Bench(1, 2)
    yield one
    await one.stop()


async def lost_members(bench: Bench, before: dict[int, str]) -> int:
    """How many members are others by now."""
    now = await bench.uids("g")
    return sum(uid != now.get(index) for index, uid in before.items())


async def given_up(bench: Bench, names: set[str], ready: str) -> None:
    """The node controller says that of these nodes."""
    for name in names:
        status = {"status": {"conditions": [{"type": "Ready", "status": ready}]}}
        await bench.cluster.patch(NODES, Target("", name), status, "status")


@pytest.mark.parametrize("is_given_up", [False, True])
async def test_one_node_that_is_left_makes_no_other_dead(bench: Bench, is_given_up: bool) -> None:
    """The leader hears one kubelet and one host, its own: seven others are silent, none is dead.

    Nor is one where the node controller, on the same side, gives them all up. The pod of the gang
    would have room on the node that is left.
    """
    await bench.start()
    await bench.submit("g", 1)
    before, names = await bench.uids("g"), {one["metadata"]["name"] for one in bench.fabric}
    heard = max(names - set((await bench.places("g")).values()))
    cut_off = names - {heard}
    bench.heartbeats.lose(cut_off)
    await bench.clock.advance(45)
    if is_given_up:
        await given_up(bench, cut_off, "Unknown")
    await bench.clock.advance(60)
    bench.heartbeats.restore(cut_off)
    await given_up(bench, cut_off, "True")
    await bench.clock.advance(60)
    assert await lost_members(bench, before) == 0
    (silent,) = await bench.events("MostNodesSilent")
    assert silent["regarding"]["kind"] == "ConfigMap"
    assert silent["note"].startswith("At least 5 of 8 nodes are silent at once, so none is dead")
    assert len(await bench.events("MostNodesHeard")) == 1


@pytest.mark.parametrize("grace", [45, 120])
async def test_where_no_node_is_left_none_is_dead(bench: Bench, grace: float) -> None:
    """All eight are cut off from the API and from the leader, and given up one after the other.

    After a minute it is not known any more who is silent, but that most were at once still is.
    """
    await bench.start()
    await bench.submit("g", 1)
    before, names = await bench.uids("g"), sorted(one["metadata"]["name"] for one in bench.fabric)
    bench.heartbeats.lose(names)
    await bench.clock.advance(grace)
    for name in names:
        await given_up(bench, {name}, "Unknown")
        await bench.clock.advance(1)
    await bench.clock.advance(300)
    assert await lost_members(bench, before) == 0
    assert not await bench.events("NodeDead")


async def test_no_gang_is_bound_where_most_nodes_are_silent(bench: Bench) -> None:
    """Six of eight are silent: a pod has one of the two others, and a gang of four waits."""
    await bench.start()
    names = sorted(one["metadata"]["name"] for one in bench.fabric)
    bench.heartbeats.lose(set(names[:6]))
    bench.kubelets.silent |= set(names[:6])
    await bench.clock.advance(20)
    await bench.submit("one", 1)
    await bench.submit("four", 4)
    await bench.clock.advance(10)
    assert set((await bench.places("one")).values()) <= set(names[6:])
    assert len(await bench.places("one")) == 1
    assert not await bench.places("four")
    bench.heartbeats.restore(set(names[:6]))
    await bench.clock.advance(30)
    assert len(await bench.places("four")) == 4


async def test_half_of_the_nodes_may_die_at_once(bench: Bench) -> None:
    """A rack of two loses power: its gang runs on the other one within a minute."""
    await bench.start()
    await bench.submit("g", 4)
    lost = set((await bench.places("g")).values())
    assert len({name.rsplit("-", 1)[0] for name in lost}) == 1
    bench.lose(*lost)
    await bench.clock.advance(60)
    places = set((await bench.places("g")).values())
    assert len(places) == 4
    assert not places & lost


async def test_one_host_that_answers_says_nothing_of_a_late_one(bench: Bench) -> None:
    """The leader reaches the host that it runs on and no other: who is late is not dead yet."""
    await bench.start()
    await bench.submit("g", 4)
    before, late = await bench.uids("g"), (await bench.places("g"))[0]
    names = {one["metadata"]["name"] for one in bench.fabric}
    bench.heartbeats.silent.add(late)
    bench.heartbeats.unreachable |= names - {min(names - {late})}
    await bench.clock.advance(60)
    assert await lost_members(bench, before) == 0


@pytest.mark.parametrize(
    ("silent", "heard", "general"),
    [(2, 0, False), (3, 0, True), (5, 5, False), (54, 46, False), (55, 45, True), (99, 1, True)],
)
def test_how_many_are_most(silent: int, heard: int, general: bool) -> None:
    """55 of 100 are, and 54 are not; two are none whatever share they are."""
    signs = {f"s{i}": SILENT for i in range(silent)} | {f"h{i}": HEARD for i in range(heard)}
    late = {f"s{i}" for i in range(silent)}
    for known in (signs.keys(), signs.keys() - late):
        assert general_silence(signs, (), known, {}, 0.0) == (late if general else set())


def test_who_counts() -> None:
    """Hosts that answer are heard; the long dead, those shut down and those gone count for none."""
    signs = {f"s{i}": SILENT for i in range(6)} | {f"h{i}": HEARD for i in range(4)}
    silent = {f"s{i}" for i in range(6)}

    def found(
        answering: Container[str] = (),
        judgements: Mapping[str, Judgement] = MappingProxyType({}),
        now: float = 100.0,
    ) -> frozenset[str]:
        return general_silence(signs, answering, signs.keys(), judgements, now)

    assert found() == silent
    assert not found({"s0"})
    dead = {f"s{i}": Judgement(NodeVerdict.DEAD, Cause.SILENT, 40.0) for i in range(2)}
    assert found(judgements=dead) == silent
    assert not found(judgements=dead, now=100.1)
    signs |= {"s0": Signs(silence=15, out_of_service=True), "s1": Signs(there=False)}
    assert not found()


def test_who_was_silent_before_the_term_says_nothing_of_who_falls_silent_now() -> None:
    """Sixty of 100 were never heard, and are most of all: held. One of forty others may be dead."""
    signs = {f"off{i}": SILENT for i in range(60)} | {f"h{i}": HEARD for i in range(40)}
    off, heard = {f"off{i}" for i in range(60)}, {f"h{i}" for i in range(40)}
    assert general_silence(signs, (), heard, {}, 0.0) == off
    assert general_silence(signs | {"h0": SILENT}, (), heard, {}, 0.0) == off
    late = {f"h{i}" for i in range(22)}
    cut = signs | dict.fromkeys(late, SILENT)
    assert general_silence(cut, (), heard, {}, 0.0) == off | late


def test_who_was_switched_off_long_before_says_nothing_of_who_fell_silent_just_before() -> None:
    """Before this term 60 of 100 went silent at once, and one ten minutes later: it may be dead.

    Where it was nine minutes, or its Lease does not say, it may have been with the others.
    """
    off = {f"off{i}": Signs(silence=15, renewed="2026-01-01T00:00:00.5Z") for i in range(60)}
    signs = off | {f"h{i}": HEARD for i in range(39)}
    heard = {f"h{i}" for i in range(39)}
    for renewed, held in [("00:09:59Z", True), ("00:10:01Z", False), ("soon", True)]:
        last = {"last": Signs(silence=15, renewed=f"2026-01-01T{renewed}")}
        found = general_silence(signs | last, (), heard, {}, 0.0)
        assert found == off.keys() | (last.keys() if held else set())


async def test_a_leader_repairs_where_most_nodes_are_switched_off(bench: Bench) -> None:
    """Five of eight nodes are off when a leader takes over; then a member's node dies."""
    await bench.start()
    await bench.submit("g", 1)
    names = {one["metadata"]["name"] for one in bench.fabric}
    (place,) = (await bench.places("g")).values()
    off = set(sorted(names - {place})[:5])
    bench.tasks.pop().cancel()
    bench.lose(*off)
    await given_up(bench, off, "Unknown")
    await bench.start("b")
    await bench.clock.advance(40)
    bench.lose(place)
    await bench.clock.advance(60)
    (now,) = (await bench.places("g")).values()
    assert now in names - off - {place}
