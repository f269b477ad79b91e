"""What one tenant's refusals of evictions cost others: the whole scheduler in virtual time.

The fabric is one spine of 4 leaves of 4 nodes, and a gang that waits may preempt after 5 s.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import JOBS, LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.independent import independent
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import StandingGang
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_eviction_limits import hanging
from tests.k8s_bridge.relocation.test_moving import ask, configure, halves
from tests.twins.jobs import job


class Answers:
    """An API that answers evictions of pods of that name with an error, so many times."""

    def __init__(self, start: str, error: ClusterError, times: int = 10**6) -> None:
        self.start, self.error, self.left = start, error, times
        self.hangs: Bench | None = None
        self.seconds = 1000.0
        self.dry_runs_alone = False

    async def before(self, request: ApiRequest) -> None:
        """Refuse it, or let it hang."""
        asked = request.subresource == "eviction" and request.target.name.startswith(self.start)
        if not asked or not self.left or (self.dry_runs_alone and not request.dry_run):
            return
        if self.hangs is not None:
            if not request.dry_run:
                await self.hangs.clock.sleep(self.seconds)
            return
        self.left -= 1
        raise self.error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def answering(bench: Bench, answers: Answers) -> None:
    """Another scheduler leads, whose API answers so."""
    bench.tasks.pop().cancel()
    await bench.start("b", answers=answers)
    await bench.clock.advance(30)


async def bound_within(bench: Bench, name: str, size: int, seconds: float) -> bool:
    """Whether all pods of a Job are bound by then."""
    until = bench.clock.monotonic() + seconds
    while len(await bench.places(name)) < size and bench.clock.monotonic() < until:
        await bench.clock.advance(0.5)
    return len(await bench.places(name)) == size


async def low_pods(bench: Bench, many: int) -> None:
    """So many Jobs of one pod of one GPU that give way: `v0`, `v1`, ..."""
    for number in range(many):
        body = job(f"v{number}", 1, 1)
        body["spec"]["template"]["spec"]["priorityClassName"] = "low"
        await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(20)


async def test_trials_that_hang_leave_writes_their_turns(bench: Bench) -> None:
    """96 trials hang in one namespace's webhook, and a pod that fits is bound at once."""
    await bench.classes(low=1, high=10)
    webhook = await hanging(bench, "a-", 1000.0)
    await bench.submit("a", 96, 1, priority="low")
    await bench.clock.advance(20)
    await bench.submit("top", 15, 8, priority="high")
    for _ in range(400):
        await bench.clock.advance(0.1)
        if webhook.hanging:
            break
    await bench.cluster.create(JOBS, TEAM, job("plain", 1, 1))
    assert await bound_within(bench, "plain", 1, 5.0)
    assert webhook.hanging


async def test_evictions_that_hang_stop_no_other_relocation(bench: Bench) -> None:
    """The victims' webhook answers trials, and hangs over the evictions: a node dies meanwhile."""
    await bench.classes(low=1, high=10)
    answers = Answers("a-", Refused("never"))
    await answering(bench, answers)
    answers.hangs = bench
    await bench.submit("a", 12, priority="low")
    await bench.submit("g", 3, priority="high")
    await bench.submit("top", 8, priority="high")
    await bench.clock.advance(30)
    before = await bench.uids("g")
    bench.lose((await bench.places("g"))[0])
    await bench.clock.advance(60)
    assert len(set((await bench.uids("g")).values()) - set(before.values())) >= 1
    assert await bench.places("top") == {}


async def test_evictions_that_hang_stop_no_other_preemption(bench: Bench) -> None:
    """`first` cannot have its victim go: `second` has its own at once, `first` another later."""
    await bench.classes(low=1, middle=5, high=10)
    answers = Answers("a-", Refused("never"))
    await answering(bench, answers)
    answers.hangs = bench
    await bench.submit("a", 4, priority="low")
    await bench.submit("b", 4, priority="middle")
    await bench.submit("c", 8, priority="middle")
    await bench.submit("first", 4, priority="high")
    await bench.clock.advance(10)
    await bench.submit("second", 8, priority="high")
    assert await bound_within(bench, "second", 8, 20.0)
    assert not await bench.places("first")
    assert len(await bench.places("b")) == 4
    assert await bound_within(bench, "first", 4, 130.0)


async def test_evictions_that_wait_for_their_slot_end_with_their_relocation(bench: Bench) -> None:
    """Of 20 victims 16 are being told to go when the gang is deleted that they were to go for."""
    await bench.classes(low=1, high=10)
    answers = Answers("a-", Refused("never"))
    await answering(bench, answers)
    answers.hangs, answers.seconds = bench, 60.0
    await bench.submit("a", 20, 1, priority="low")
    before = set((await bench.uids("a")).values())
    await bench.submit("top", 16, priority="high")
    await bench.clock.advance(30)
    assert await bench.open_relocations() == ["top"]
    await bench.delete("top")
    await bench.clock.advance(5)
    assert not await bench.open_relocations()
    answers.hangs, answers.left = None, 0
    await bench.clock.advance(60)
    assert len(before & set((await bench.uids("a")).values())) == 4


async def test_a_node_that_comes_back_keeps_a_pod_that_the_api_has_not_let_go(bench: Bench) -> None:
    """The lost pod of a gang of two is kept by the API until its node is heard of again."""
    answers = Answers("g-", Throttled("too many requests", 429))
    await answering(bench, answers)
    await bench.submit("g", 2)
    before = await bench.uids("g")
    node = (await bench.places("g"))[0]
    bench.lose(node)
    await bench.clock.advance(30)
    assert await bench.open_relocations() == ["g"]
    bench.restore(node)
    await bench.clock.advance(15)
    answers.left = 0
    await bench.clock.advance(60)
    assert await bench.uids("g") == before
    assert not await bench.open_relocations()


async def drain(bench: Bench, *jobs: str) -> None:
    """Their nodes are to be emptied."""
    patch = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    for name in jobs:
        for node in (await bench.places(name)).values():
            await bench.cluster.patch(NODES, Target("", node), patch)


async def test_no_pod_goes_while_the_api_does_not_say_whether_its_place_is_open(
    bench: Bench,
) -> None:
    """A drained pod has a place, whose node the API does not show for 20 s: it may be cordoned."""

    class NoNodes:
        is_down = True

        async def before(self, request: ApiRequest) -> None:
            if self.is_down and request.verb == "get" and request.kind is NODES:
                raise Ambiguous("etcd: no leader", 500)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    api = NoNodes()
    bench.tasks.pop().cancel()
    await bench.start("b", answers=api)
    await bench.clock.advance(30)
    await bench.submit("g", 1)
    before = await bench.uids("g")
    await drain(bench, "g")
    await bench.clock.advance(20)
    assert await bench.open_relocations() == ["g"]
    assert await bench.uids("g") == before
    api.is_down = False
    await bench.clock.advance(20)
    assert await bench.uids("g") != before


async def test_many_relocations_that_hang_are_waited_for_once(bench: Bench) -> None:
    """Seven drains hang over their evictions; the eighth, which comes last, is done within 5 s."""
    answers = Answers("a", Refused("never"))
    await answering(bench, answers)
    answers.hangs = bench
    names = [*(f"a{number}" for number in range(7)), "g"]
    for name in names:
        await bench.submit(name, 1)
    before = await bench.uids("g")
    await drain(bench, *names)
    await bench.clock.advance(5)
    assert await bench.uids("g") != before
    assert len(await bench.places("g")) == 1


async def test_an_eviction_that_was_kept_back_is_sent_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is written anew while the leader makes sure that it leads: a later step sends."""
    check, kept_back = RelocationStore.check_lead, []

    async def check_lead(store: RelocationStore) -> None:
        await check(store)
        for one in () if kept_back else store:
            kept_back.append(one.gang)
            await store.put(one)

    monkeypatch.setattr(RelocationStore, "check_lead", check_lead)
    await bench.submit("g", 1)
    before = await bench.uids("g")
    await drain(bench, "g")
    await bench.clock.advance(15)
    assert kept_back
    assert await bench.uids("g") != before


async def away_from(bench: Bench, other: str) -> None:
    """The Job `a` of one pod, more important than others, that may not go where `other` is."""
    body = job("a", 1, 1)
    spec = body["spec"]["template"]["spec"]
    spec["priorityClassName"] = "high"
    held = sorted((await bench.places(other)).values())
    away = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": held}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [away]}]}
    spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    await bench.cluster.create(JOBS, TEAM, body)


async def test_a_gang_whose_victims_may_not_go_leaves_the_next_one_its_turn(bench: Bench) -> None:
    """Each of 96 pods would make room for `a`, and each is refused; `b` needs other pods to go."""
    await bench.classes(low=1, middle=5, high=10)
    await answering(bench, Answers("v", Refused("a policy: do not evict", 403)))
    await bench.submit("w", 4, priority="low")
    await low_pods(bench, 96)
    await away_from(bench, "w")
    await bench.clock.advance(1)
    await bench.submit("b", 4, priority="middle")
    assert await bound_within(bench, "b", 4, 60.0)


async def test_a_gang_whose_victims_may_not_go_is_not_planned_all_the_time(bench: Bench) -> None:
    """Each of 96 pods would make room for it, and each is refused: three plans in ten seconds."""
    await bench.classes(low=1, high=10)
    await answering(bench, Answers("v", Refused("a policy: do not evict", 403)))
    await bench.submit("w", 4, priority="low")
    await low_pods(bench, 96)
    await away_from(bench, "w")
    await bench.clock.advance(30)
    assert 6 <= len(bench.solved.preemptions) <= 10


@pytest.mark.parametrize(
    "error",
    [Throttled("too many requests", 429, retry_after=1.0), Ambiguous("etcd: no leader", 500)],
    ids=["throttled", "ambiguous"],
)
async def test_an_error_that_passes_is_no_refusal(bench: Bench, error: ClusterError) -> None:
    """The first two trials fail by the way; the pod leaves its node within seconds all the same."""
    answers = Answers("g", error, 2)
    answers.dry_runs_alone = True
    await answering(bench, answers)
    await bench.submit("g", 1)
    node = (await bench.places("g"))[0]
    patch = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", node), patch)
    await bench.clock.advance(20)
    assert (await bench.places("g"))[0] != node


def relocation(name: str, source: str, node: str) -> Relocation:
    """One member of a gang moves from one node to another."""
    pod = Target("ml", f"{name}-0", f"uid-{name}")
    seat = Seat(pod, (0, 0, 0), source, node, Resources(gpus=8))
    return Relocation(
        gang=GangKey("ml", name),
        purpose=Purpose.REPAIR,
        seats=(seat,),
        leavers=(Leaver(pod, source),),
        opened=0.0,
        until=300.0,
    )


def standing(name: str, bandwidth: int | None = None) -> StandingGang:
    """A gang that asks for so much of the network."""
    role = Role((), Resources(gpus=8), bound=((f"{name}-0", "n"),))
    return StandingGang(Gang(GangKey("ml", name), roles=(role,), created=0.0, bandwidth=bandwidth))


def test_what_needs_nothing_of_those_that_may_not_go_holds_without_them() -> None:
    """`a`, `b` and `c` share nodes in a row; `d` has nodes of its own."""
    plan = [
        relocation("a", "n1", "n2"),
        relocation("b", "n3", "n1"),
        relocation("c", "n4", "n3"),
        relocation("d", "n5", "n6"),
    ]
    all_of = [standing(name) for name in "abcd"]

    def kept(*off: str) -> str:
        found = independent(plan, {GangKey("ml", name) for name in off}, all_of)
        return "".join(one.gang.name for one in found)

    assert kept("a") == "d"
    assert kept("c") == "d", "what touches one of them is out as well"
    assert kept("d") == "abc"
    assert kept() == "abcd"


def test_gangs_that_ask_for_bandwidth_stand_or_fall_together() -> None:
    """One that stays may keep an uplink busy that another counts on."""
    plan = [relocation("a", "n1", "n2"), relocation("b", "n3", "n4"), relocation("c", "n5", "n6")]
    wired = [standing("a", 100), standing("b", 100), standing("c")]
    (left,) = independent(plan, {GangKey("ml", "a")}, wired)
    assert left.gang.name == "c"


@pytest.mark.parametrize("stays", ["a", "b"])
async def test_others_move_where_one_may_not_go(bench: Bench, stays: str) -> None:
    """Two gangs that each fill half a leaf could make way for one of 4; one of them is kept."""
    await answering(bench, Answers(stays, Refused("admission webhook denied", 403)))
    await configure(bench)
    await halves(bench, movable="true")
    uids = await bench.uids(stays)
    await bench.submit("four", 4)
    await bench.clock.advance(60)
    await ask(bench)
    await bench.clock.advance(20)
    assert len(await bench.places("four")) == 4
    assert await bench.uids(stays) == uids


class Throttling(Answers):
    """An API that throttles evictions of these pods, and no dry run."""

    async def before(self, request: ApiRequest) -> None:
        """Refuse what is no dry run."""
        if not request.dry_run:
            await super().before(request)


async def test_an_eviction_that_is_throttled_is_asked_again_twice_in_half_a_minute(
    bench: Bench,
) -> None:
    """In ten minutes: waits are of up to 30 s at random, 15 s on the average, so some 40 times.

    Waits of 300 s at most would be some 10 times, and of 3 s at most some 270.
    """
    answers = Throttling("g-", Throttled("too many requests"))
    await answering(bench, answers)
    await bench.submit("g", 1)
    node = (await bench.places("g"))[0]
    body = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", node), body)
    before = answers.left
    await bench.clock.advance(600)
    assert 20 <= before - answers.left <= 80


class WellAgain:
    """No record of a relocation can be created for 120 s, and the dry run at the end is refused."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.well = asyncio.Event()

    async def before(self, request: ApiRequest) -> None:
        """Let creations hang until then."""
        name = request.target.name
        if request.kind is LEASES and request.verb == "create" and name.startswith("relocation"):
            await self.well.wait()
        is_asked = request.subresource == "eviction" and request.dry_run
        if is_asked and self.bench.clock.monotonic() > 120 and not self.well.is_set():
            self.well.set()
            await self.bench.clock.sleep(0.5)
            raise Refused("a webhook says no", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_a_refusal_as_a_record_is_written_at_last_ends_no_term() -> None:
    """Its window of 20 s has passed meanwhile: the gang is planned anew, and started."""
    bench = Bench(1, 1)
    await bench.config("{preemption: {windowSeconds: 20}}")
    await bench.classes(low=0, high=1000)
    answers = WellAgain(bench)
    with capture_logs() as logs:
        await bench.start(answers=answers)
        for number in range(4):
            await bench.submit(f"low{number}", 1, priority="low", namespace="other")
        await bench.submit("top", 1, priority="high")
        while not answers.well.is_set() and bench.clock.monotonic() < 400:
            await bench.clock.advance(10)
        await bench.clock.advance(60)
    assert answers.well.is_set()
    assert not [one["why"] for one in logs if one["event"] == "term_failed"]
    assert await bench.places("top")
    await bench.stop()
