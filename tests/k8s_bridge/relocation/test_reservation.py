"""Big gangs are not starved by small ones: the whole scheduler on the twin, in virtual time.

The fabric is one spine of 2 leaves of 4 nodes of 8 GPUs. A gang that has waited for 20 s gets a
place kept; small pods run for 30 s, and more of them come than there is room for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, JOBS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, node, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation import reservation
from fourleaf.model.config.spec import CONFIG_MAP
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job

AFTER, LIFE = 20.0, 30.0
SLACK = 5.0
"""Seconds for cycles, bindings and kubelets."""
CONFIG = f"""
apiVersion: topology.scheduler/v1alpha1
kind: SchedulerConfig
spec:
  backfill: {{afterSeconds: {AFTER:g}}}
"""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A scheduler that leads, with its config."""
    bench = Bench(leaves=2)
    await bench.start()
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": CONFIG}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    yield bench
    await bench.stop()


class Stream:
    """Jobs of one pod of one GPU that run for `LIFE` and come faster than they can run."""

    def __init__(self, bench: Bench, load: float, **annotations: str) -> None:
        self._bench = bench
        self._every = LIFE / (64 * load)
        self._said = {
            f"topology.scheduler/{key.replace('_', '-')}": text for key, text in annotations.items()
        }
        self._came = 0
        self._due = 0.0
        self._began: dict[str, float] = {}

    async def advance(self, seconds: float) -> None:
        """Let time pass; jobs come, and those that have run for their time end."""
        until = self._bench.clock.monotonic() + seconds
        while self._bench.clock.monotonic() < until:
            now = self._bench.clock.monotonic()
            while self._due <= now:
                self._came += 1
                self._due += self._every
                body = job(f"s{self._came}", 1, 1, **self._said)
                await self._bench.cluster.create(JOBS, TEAM, body)
            await self._end(now)
            await self._bench.clock.advance(0.5)

    async def _end(self, now: float) -> None:
        for one in (await self._bench.cluster.list(PODS, TEAM)).items:
            name = one["metadata"]["name"]
            running = one["status"].get("phase") == "Running"
            if running and one["spec"]["containers"][0]["resources"]["limits"] != {
                "nvidia.com/gpu": "8"
            }:
                began = self._began.setdefault(name, now)
                if now - began >= LIFE:
                    self._bench.kubelets.finish(TEAM, [name])


async def test_a_big_gang_under_a_stream_of_small_ones_has_its_turn(bench: Bench) -> None:
    """At 110 % load a gang of the whole fabric waits at most `afterSeconds` and one life."""
    stream = Stream(bench, 1.1)
    await bench.submit("s0", 1, 1)
    await stream.advance(LIFE)
    await bench.cluster.create(JOBS, TEAM, job("big", 8))
    came = bench.clock.monotonic()
    while len(await bench.places("big")) < 8:
        assert bench.clock.monotonic() - came <= AFTER + LIFE + SLACK
        await stream.advance(1)
    assert bench.clock.monotonic() - came > AFTER


async def test_no_place_is_kept_any_longer_once_the_config_wants_none(bench: Bench) -> None:
    """Others have the room of the one that was kept within seconds of the edit."""
    await bench.submit("half", 4)
    await bench.submit("big", 8)
    await bench.clock.advance(AFTER + 5)
    assert await bench.reservations() == [f"{TEAM}/big"]
    await bench.submit("small", 1, 1)
    await bench.clock.advance(5)
    assert not await bench.places("small")
    text = CONFIG.replace("backfill: {", "backfill: {enabled: false, ")
    data = {"data": {"config.yaml": text}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), data)
    await bench.clock.advance(5)
    assert await bench.reservations() == []
    assert len(await bench.places("small")) == 1


async def test_who_ends_in_time_may_use_the_room_meanwhile(bench: Bench) -> None:
    """Half of the place is free for a minute more: 10 s of work fits in there, 100 s wait."""
    await bench.submit("half", 4, expected_duration="90s")
    await bench.submit("big", 8)
    await bench.clock.advance(AFTER + 5)
    assert await bench.reservations() == [f"{TEAM}/big"]
    await bench.submit("long", 1, 1, expected_duration="100s")
    await bench.submit("unknown", 1, 1)
    await bench.submit("short", 1, 1, expected_duration="10s")
    await bench.clock.advance(5)
    assert len(await bench.places("short")) == 1
    assert not await bench.places("long")
    assert not await bench.places("unknown")
    for name in ("short", "half"):
        await bench.end(name)
    await bench.clock.advance(5)
    assert len(await bench.places("big")) == 8
    assert not await bench.reservations()


async def test_who_stays_longer_than_declared_gives_the_room_back(bench: Bench) -> None:
    """`lie` says 10 s and never ends: the gang that its room is kept for has it evicted at 70 s.

    It says an hour by then, which counts for nothing, and its namespace is lent no room any more.
    """
    await bench.submit("half", 4, expected_duration="90s")
    await bench.submit("big", 8)
    await bench.clock.advance(AFTER + 5)
    await bench.submit("lie", 1, 1, expected_duration="10s")
    (lie,) = await bench.pods("lie")
    assert lie["spec"]["nodeName"]
    await bench.clock.advance(5)
    patch = {"metadata": {"annotations": {"topology.scheduler/expected-duration": "1h"}}}
    await bench.cluster.patch(PODS, Target(TEAM, lie["metadata"]["name"]), patch)
    await bench.clock.advance(20)
    assert await bench.reservations() == [f"{TEAM}/big"]
    await bench.end("half")
    await bench.clock.advance(60)
    assert len(await bench.places("big")) == 8
    assert not await bench.places("lie")


async def test_who_was_lent_nothing_gives_nothing_back(bench: Bench) -> None:
    """`late` would have been lent room if there had been any. It got its own, and is overdue there.

    A place is kept for `equal`, of its priority, where it stands; it is not evicted for that.
    """
    await bench.submit("half", 4, expected_duration="5000s")
    await bench.submit("rest", 4, expected_duration="5000s")
    await bench.submit("big", 8)
    await bench.clock.advance(AFTER + 5)
    await bench.submit("late", 4, expected_duration="30s")
    await bench.delete("big")
    await bench.clock.advance(3)
    await bench.end("rest")
    await bench.clock.advance(3)
    uids = await bench.uids("late")
    assert len(await bench.places("late")) == 4
    await bench.submit("equal", 4)
    await bench.clock.advance(120)
    assert await bench.reservations() == [f"{TEAM}/equal"]
    assert await bench.uids("late") == uids


async def test_who_overstayed_is_lent_no_more(bench: Bench) -> None:
    """`lie` is over by 60 s of 10: `next` of its namespace, which says 10 s too, waits."""
    await bench.submit("half", 4, expected_duration="500s")
    await bench.submit("big", 8)
    await bench.clock.advance(AFTER + 5)
    await bench.submit("lie", 1, 1, expected_duration="10s")
    await bench.submit("good", 1, 1, expected_duration="10s")
    assert await bench.places("good")
    await bench.end("good")
    await bench.clock.advance(70)
    await bench.submit("next", 1, 1, expected_duration="10s")
    assert not await bench.places("next")
    await bench.clock.advance(30)
    assert not await bench.places("next")


@pytest.mark.parametrize(("said", "rest"), [("1s", 0), ("90s", 300)])
async def test_no_place_is_kept_behind_pods_that_overstay(
    bench: Bench, said: str, rest: int
) -> None:
    """`lie` stays for ever on its leaf. On the other one the last pod ends, as it has declared.

    Small pods come for each node of that, and would have them all if the place were kept elsewhere:
    because of a word that was broken before, or three minutes after it was.
    """
    await bench.submit("lie", 4, expected_duration=said)
    for number in range(4):
        await bench.submit(f"fair-{number}", 1, expected_duration=f"{rest + 120 + 30 * number}s")
    await bench.clock.advance(60)
    await bench.submit("next", 4)
    await bench.clock.advance(AFTER + 3 + rest)
    assert await bench.reservations() == [f"{TEAM}/next"]
    for number in range(4):
        await bench.submit(f"s{number}", 1)
        await bench.end(f"fair-{number}")
    await bench.clock.advance(5)
    assert len(await bench.places("next")) == 4


async def test_a_reservation_keeps_nobody_from_a_better_place(bench: Bench) -> None:
    """Reserved on one leaf, the other becomes free first: the gang starts there."""
    await bench.submit("a", 4, expected_duration="100s")
    await bench.submit("b", 4, expected_duration="200s")
    await bench.submit("next", 4)
    await bench.clock.advance(AFTER + 5)
    assert await bench.reservations() == [f"{TEAM}/next"]
    before = set((await bench.places("b")).values())
    await bench.end("b")
    await bench.clock.advance(5)
    assert set((await bench.places("next")).values()) == before
    assert not await bench.reservations()


async def test_a_kept_place_makes_way_for_a_gang_that_comes_first(bench: Bench) -> None:
    """Kept for a low gang, then a higher one waits: nothing is kept but for that one, which starts.

    Who stands there has the priority of the higher one, so nobody is evicted for it.
    """
    await bench.classes(low=1, high=10)
    await bench.submit("old", 8, priority="high")
    uids = await bench.uids("old")
    await bench.submit("low", 8, priority="low")
    await bench.clock.advance(AFTER + 5)
    assert await bench.reservations() == [f"{TEAM}/low"]
    await bench.submit("top", 8, priority="high")
    await bench.clock.advance(5)
    assert not await bench.reservations()
    await bench.clock.advance(AFTER)
    assert await bench.reservations() == [f"{TEAM}/top"]
    assert await bench.uids("old") == uids
    await bench.end("old")
    await bench.clock.advance(5)
    assert len(await bench.places("top")) == 8
    assert not await bench.places("low")


async def members(bench: Bench, namespace: str, gang: str, size: int) -> None:
    """Pods of 8 GPUs that say what gang they are, and nothing makes anew."""
    said = {GANG: gang, GANG_SIZE: str(size)}
    pods = [
        pod(f"{gang}-{number}", namespace=namespace, annotations=said) for number in range(size)
    ]
    await submit(bench.cluster, namespace, pods)
    await bench.clock.advance(3)


async def bound(bench: Bench, namespace: str, gang: str) -> int:
    """How many of them run."""
    items = (await bench.cluster.list(PODS, namespace)).items
    named = (one for one in items if one["metadata"]["name"].startswith(f"{gang}-"))
    return sum(bool(one["spec"].get("nodeName")) for one in named)


@pytest.mark.parametrize("deed", ["one", "all", "spoilt"])
async def test_what_could_not_start_keeps_nothing(bench: Bench, deed: str) -> None:
    """A gang loses a member, all, or is held for a bad annotation: others start within 5 s."""
    await bench.submit("stays", 1)
    await members(bench, "evil", "big", 8)
    await bench.clock.advance(AFTER + 5)
    assert await bench.reservations() == ["evil/big"]
    await members(bench, "honest", "small", 1)
    assert not await bound(bench, "honest", "small")
    if deed == "spoilt":
        patch = {"metadata": {"annotations": {"topology.scheduler/network-bandwidth": "much"}}}
        await bench.cluster.patch(PODS, Target("evil", "big-0"), patch)
    for number in range({"one": 1, "all": 8, "spoilt": 0}[deed]):
        await bench.cluster.delete(PODS, Target("evil", f"big-{number}"))
    await bench.clock.advance(5)
    assert await bound(bench, "honest", "small") == 1
    assert not await bench.reservations()


async def configure(bench: Bench, text: str) -> None:
    """Another config."""
    patch = {"data": {"config.yaml": text}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), patch)


async def test_others_come_first_after_a_member_was_taken_back(bench: Bench) -> None:
    """`evil` makes it anew at once, and waits for 40 s again: a later gang of others is next."""
    await configure(bench, CONFIG.replace("20", "40"))
    await bench.submit("stays", 1)
    await members(bench, "evil", "big", 8)
    await bench.clock.advance(45)
    assert await bench.reservations() == ["evil/big"]
    await members(bench, "honest", "wide", 8)
    await bench.cluster.delete(PODS, Target("evil", "big-0"))
    await bench.clock.advance(2)
    said = {GANG: "big", GANG_SIZE: "8"}
    await submit(bench.cluster, "evil", [pod("big-0", namespace="evil", annotations=said)])
    await bench.clock.advance(35)
    assert not await bench.reservations()
    await bench.clock.advance(6)
    assert await bench.reservations() == ["honest/wide"]


async def test_a_namespace_rests_after_a_member_was_taken_back(bench: Bench) -> None:
    """Another gang of it has waited as long, and has its place when a new one would."""
    await configure(bench, CONFIG.replace("20", "40"))
    await bench.submit("stays", 1)
    await members(bench, "evil", "big", 8)
    await members(bench, "evil", "wide", 8)
    await bench.clock.advance(45)
    (one,) = await bench.reservations()
    await bench.cluster.delete(PODS, Target("evil", f"{one.removeprefix('evil/')}-0"))
    await bench.clock.advance(35)
    assert not await bench.reservations()
    await bench.clock.advance(10)
    assert await bench.reservations() == [{"evil/big": "evil/wide", "evil/wide": "evil/big"}[one]]


async def test_others_come_first_after_an_hour_in_vain(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older gang of two has had its time, here 35 s: the other one has the next."""
    monkeypatch.setattr(reservation, "RESERVATION_SECONDS", 35.0)
    await give_all(bench, "evil")
    await bench.submit("stays", 1)
    await members(bench, "evil", "big", 8)
    await bench.clock.advance(AFTER + 5)
    await members(bench, "honest", "wide", 8)
    await bench.clock.advance(20)
    assert await bench.reservations() == ["evil/big"]
    await bench.clock.advance(15)
    assert await bench.reservations() == ["honest/wide"]


async def test_gangs_without_any_place_keep_no_other_waiting(bench: Bench) -> None:
    """Twelve older ones are looked at, one a second: `wide` of another namespace comes second.

    So it does after it has left its place unused, which lets others come first, but for once.
    """
    await bench.submit("stays", 1)
    await bench.submit_hopeless("evil", 12)
    await members(bench, "honest", "wide", 8)
    await bench.clock.advance(AFTER + 1)
    assert await bench.reservations() == ["honest/wide"]
    assert len(bench.solved.starts) < 6
    await bench.cluster.delete(PODS, Target("honest", "wide-0"))
    await bench.clock.advance(1)
    assert not await bench.reservations()
    again = pod("wide-0", namespace="honest", annotations={GANG: "wide", GANG_SIZE: "8"})
    await submit(bench.cluster, "honest", [again])
    await bench.clock.advance(30)
    assert await bench.reservations() == ["honest/wide"]


async def give_all(bench: Bench, namespace: str) -> None:
    """A quota of all GPUs."""
    await configure(bench, CONFIG + f"  namespaces: {{{namespace}: {{gpuQuota: 64}}}}\n")


class Denies:
    """A webhook that denies the bindings of pods of `big`."""

    async def before(self, request: ApiRequest) -> None:
        """Deny it, those of dry runs too."""
        if request.subresource == "binding" and request.target.name.startswith("big-"):
            raise Refused("webhook denied", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_what_the_api_never_binds_keeps_nothing(bench: Bench) -> None:
    """All places of `big` are free for a minute and it has not started: `small` starts."""
    bench.tasks.pop().cancel()
    await bench.start("b", dry_run="always", answers=Denies())
    await bench.clock.advance(30)
    await give_all(bench, "evil")
    await bench.submit("stays", 8)
    await members(bench, "evil", "big", 8)
    await bench.clock.advance(AFTER + 5)
    await bench.end("stays")
    await members(bench, "honest", "small", 1)
    await bench.clock.advance(50)
    assert not await bound(bench, "honest", "small")
    await bench.clock.advance(20)
    assert await bound(bench, "honest", "small") == 1


@pytest.mark.parametrize("has_quota", [False, True])
async def test_room_beyond_the_share_is_kept_for_a_while(bench: Bench, has_quota: bool) -> None:
    """One of 8 nodes never ends: 56 GPUs stand idle for `big`, 32 are its share of two namespaces.

    24 GPUs too many use up 32 times 20 s in 27 s. A quota of all GPUs is a share of all. The 900
    that a device map finds on a node without any are no share.
    """
    bare = node("bare", "leaf-9-0", "spine-0")
    for part in ("capacity", "allocatable"):
        bare["status"][part] = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    await bench.cluster.create(NODES, "", bare)
    lines = f"0=bare:{','.join(map(str, range(900)))}"
    mapped = pod("mapped-0", 0, annotations={"gpu-scheduling-map": lines})
    await submit(bench.cluster, "friend", [mapped])
    await bench.clock.advance(3)
    assert await bound(bench, "friend", "mapped") == 1
    if has_quota:
        await give_all(bench, "evil")
    await bench.submit("stays", 1)
    await members(bench, "evil", "big", 8)
    await bench.clock.advance(AFTER + 30)
    assert await bench.reservations() == ["evil/big"]
    await members(bench, "honest", "small", 1)
    await bench.clock.advance(20)
    assert not await bound(bench, "honest", "small")
    await bench.clock.advance(8)
    assert await bound(bench, "honest", "small") == (not has_quota)
    assert await bench.reservations() == (["evil/big"] if has_quota else [])
    # It is paid back after 20 s.
    await bench.clock.advance(AFTER + 5)
    assert await bench.reservations() == ["evil/big"]
