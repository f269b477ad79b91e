"""One process leads at a time, by its own monotonic clock, and only its writes pass."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Throttled
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.k8s_bridge.election.election import Election, Timing
from fourleaf.k8s_bridge.election.gate import Gate, GatedCluster, NotLeader
from fourleaf.k8s_bridge.election.lease import lease_body
from tests.twins.virtual_clock import VirtualClock

SYSTEM = "kube-system"
LEASE = Target(SYSTEM, "fourleaf-scheduler")
TIMING = Timing(hold=6, renew=1.5, margin=1.5)


class Fault:
    """Fails the writes of one client while `on`, before or after they are done."""

    def __init__(self) -> None:
        self.on = ""

    async def before(self, request: ApiRequest) -> None:
        """Refuse for now."""
        if self.on == "before" and request.writes:
            raise Throttled("try later")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Lose the answer."""
        if self.on == "after" and request.writes:
            raise Ambiguous("the answer was lost")


class Candidate:
    """A process that runs for leader."""

    def __init__(self, cluster: MemoryCluster, clock: VirtualClock, name: str) -> None:
        self.fault = Fault()
        self.client = cluster.client(name, self.fault)
        self.gate = Gate(clock)
        self.election = Election(self.client, SYSTEM, LEASE.name, name, clock, self.gate, TIMING)
        self.epochs: list[int] = []
        self.ended: list[str] = []
        self.task: asyncio.Task[None] | None = None

    async def live(self) -> None:
        """Campaign and hold, again and again."""
        while True:
            self.epochs.append(await self.election.campaign())
            try:
                await self.election.hold()
            except NotLeader as error:
                self.ended.append(str(error))

    def start(self) -> Candidate:
        """Run in the background."""
        self.task = asyncio.ensure_future(self.live())
        return self

    async def stop(self) -> None:
        """Stop without a word, as a killed process does."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)


@pytest.fixture
def clock() -> VirtualClock:
    """Time that passes when told."""
    return VirtualClock()


@pytest.fixture
async def cluster(clock: VirtualClock) -> MemoryCluster:
    """A cluster without a leader."""
    cluster = MemoryCluster(clock=clock)
    await add_namespace(cluster, SYSTEM)
    return cluster


async def test_the_first_leads_at_once(cluster: MemoryCluster, clock: VirtualClock) -> None:
    """Without a Lease nobody has to wait, and a second candidate waits for good."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(0.1)
    b = Candidate(cluster, clock, "b").start()
    await clock.advance(60)
    assert (a.epochs, b.epochs) == ([1], [])
    assert (a.election.epoch, b.election.epoch) == (1, 0)
    assert a.gate.is_open
    assert not b.gate.is_open
    await a.stop()
    await b.stop()


async def test_a_lease_of_another_is_not_given_back(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """A follower that ends has seen whose it is: the leader keeps it, and may write."""
    a, b = (Candidate(cluster, clock, name).start() for name in "ab")
    await clock.advance(2)
    leader, follower = (a, b) if a.epochs else (b, a)
    before = await cluster.get(LEASES, LEASE)
    await follower.stop()
    await follower.election.release()
    assert (await cluster.get(LEASES, LEASE))["spec"] == before["spec"]
    leader.gate.check()
    await leader.stop()


async def test_who_has_given_the_lease_back_writes_no_more(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """Another may lead already; when it took the lead is told by its Lease."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(2)
    first = (await cluster.get(LEASES, LEASE))["spec"]["acquireTime"]
    await clock.advance(2)
    assert (await cluster.get(LEASES, LEASE))["spec"]["acquireTime"] == first
    await a.stop()
    await a.election.release()
    with pytest.raises(NotLeader):
        a.gate.check()
    b = Candidate(cluster, clock, "b").start()
    await clock.advance(2)
    assert (await cluster.get(LEASES, LEASE))["spec"]["acquireTime"] > first
    await b.stop()


class Throttling:
    """Asks for an hour while `on`."""

    on = False

    async def before(self, request: ApiRequest) -> None:
        """Come back later."""
        if self.on:
            raise Throttled("too many requests", 429, retry_after=3600.0)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_a_follower_that_is_throttled_once_is_not_late(clock: VirtualClock) -> None:
    """The server asks it for an hour, in one second alone, and the leader dies."""
    cluster = MemoryCluster(clock=clock)
    await add_namespace(cluster, SYSTEM)
    leader = Election(cluster, SYSTEM, LEASE.name, "a", clock, Gate(clock), TIMING)
    await clock.run(leader.campaign(), within=5)
    throttling = Throttling()
    client = cluster.client("b", throttling)
    follower = Election(client, SYSTEM, LEASE.name, "b", clock, Gate(clock), TIMING)
    campaign = asyncio.ensure_future(follower.campaign())
    await clock.advance(1)
    throttling.on = True
    await clock.advance(1)
    throttling.on = False
    await clock.advance(TIMING.hold + 2 * TIMING.renew)
    assert campaign.done()


async def test_a_killed_leader_is_followed_after_its_lease(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """The standby takes over once the Lease has not changed for as long as it holds: 6 s."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(3.1)
    b = Candidate(cluster, clock, "b").start()
    await clock.advance(1)
    await a.stop()
    await clock.advance(4.0)
    assert not b.epochs
    assert not a.gate.is_open
    await clock.advance(3.5)
    assert b.epochs == [2]
    await b.stop()


async def test_what_others_write_beside_renews_no_lease(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """A dead leader is followed, though its Lease gets another annotation every second."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(3.1)
    b = Candidate(cluster, clock, "b").start()
    await clock.advance(1)
    await a.stop()
    for number in range(8):
        note = {"metadata": {"annotations": {"touched": str(number)}}}
        await cluster.patch(LEASES, LEASE, note)
        await clock.advance(1)
    assert b.epochs == [2]
    await b.stop()


async def test_a_released_lease_is_free_at_once(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """A leader that stops in order hands over within a poll of the standby."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(1)
    b = Candidate(cluster, clock, "b").start()
    await clock.advance(1)
    await a.stop()
    await a.election.release()
    await clock.advance(1)
    assert b.epochs == [2]
    await b.stop()


async def test_the_gate_shuts_before_others_may_take_over(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """A leader whose renewals fail stops writing a margin before the Lease ends."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(0.1)
    b = Candidate(cluster, clock, "b").start()
    a.fault.on = "before"
    gated = GatedCluster(cluster.client("a"), a.gate)
    open_at_takeover = []
    for _ in range(200):
        await clock.advance(0.1)
        if b.epochs:
            open_at_takeover.append(a.gate.is_open)
            break
    assert open_at_takeover == [False]
    with pytest.raises(NotLeader):
        await gated.create(CONFIG_MAPS, SYSTEM, {"metadata": {"name": "late"}})
    await a.stop()
    await b.stop()


async def test_a_lost_answer_does_not_cost_the_lead(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """A renewal that arrived without an answer is found by reading, and the leader goes on."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(0.1)
    a.fault.on = "after"
    await clock.advance(1.6)
    a.fault.on = ""
    await clock.advance(30)
    assert a.epochs == [1]
    assert not a.ended
    assert a.gate.is_open
    await a.stop()


async def test_a_lease_that_vanishes_is_written_again(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """Somebody deletes the Lease: the leader learns that it leads no more, and runs again."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(1)
    await cluster.delete(LEASES, LEASE)
    await clock.advance(20)
    assert len(a.epochs) == 2
    assert a.gate.is_open
    await a.stop()


async def test_the_epoch_can_be_raised(cluster: MemoryCluster, clock: VirtualClock) -> None:
    """A leader that meets records of a later epoch goes above it, and successors above that."""
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(0.1)
    await a.election.raise_epoch(41)
    await clock.advance(10)
    assert a.election.epoch == 41
    await a.stop()
    await a.election.release()
    b = Candidate(cluster, clock, "b").start()
    await clock.advance(1)
    assert b.epochs == [42]
    await b.stop()


@pytest.mark.parametrize(
    "spec",
    [
        {"holderIdentity": "nobody-we-know", "leaseDurationSeconds": 2**31 - 1},
        {"holderIdentity": "nobody-we-know", "leaseDurationSeconds": 61},
        {"holderIdentity": "nobody-we-know"},
        {"holderIdentity": "nobody-we-know", "leaseTransitions": 2**31 - 1},
    ],
    ids=["holds for ever", "holds too long", "does not say", "no higher epoch"],
)
async def test_nonsense_holds_no_longer_than_our_own(
    cluster: MemoryCluster, clock: VirtualClock, spec: dict[str, Any]
) -> None:
    """Whoever writes nonsense into the Lease keeps it for our 6 s; the epoch stays writable."""
    admin = cluster.client("admin")
    await admin.create(LEASES, SYSTEM, {"metadata": {"name": LEASE.name}, "spec": spec})
    a = Candidate(cluster, clock, "a").start()
    await clock.advance(5.5)
    assert not a.epochs
    await clock.advance(1.5)
    assert a.epochs == [1]
    await a.stop()


async def test_a_lease_that_says_it_holds_longer_is_waited_for(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """A leader of another configuration has it for 20 s, and may write for as long: so it is."""
    body = lease_body(LEASE.name, "other", 20, 7, clock.wall())
    await cluster.create(LEASES, SYSTEM, body)
    b = Candidate(cluster, clock, "b").start()
    await clock.advance(19)
    assert not b.epochs
    await clock.advance(3)
    assert b.epochs == [8]
    await b.stop()


async def test_a_slow_renewal_gives_no_more_time(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """The answer to a renewal takes 3 s: of the 6 s less 1.5 that it gives, 1.5 s are left."""

    class Slow:
        async def before(self, request: ApiRequest) -> None:
            """Let it arrive at once."""

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Let the answers to renewals take their time."""
            if request.verb == "update":
                await clock.sleep(3)

    gate = Gate(clock)
    client = cluster.client("a", Slow())
    election = Election(client, SYSTEM, LEASE.name, "a", clock, gate, TIMING)
    await election.campaign()
    renewal = asyncio.ensure_future(election.raise_epoch(2))
    await clock.advance(3.1)
    await renewal
    assert gate.is_open
    await clock.advance(1.5)
    assert not gate.is_open


@pytest.mark.parametrize(
    "write", ["create", "replace", "patch", "apply", "delete", "bind", "evict"]
)
async def test_no_write_of_any_sort_passes_a_shut_gate(
    cluster: MemoryCluster, clock: VirtualClock, write: str
) -> None:
    """Each method that writes asks the gate, which has never been opened."""
    gated = GatedCluster(cluster, Gate(clock))
    writes: dict[str, Any] = {
        "create": lambda: gated.create(LEASES, SYSTEM, {"metadata": {"name": "x"}}),
        "replace": lambda: gated.replace(LEASES, LEASE, {}),
        "patch": lambda: gated.patch(LEASES, LEASE, {}),
        "apply": lambda: gated.apply(LEASES, LEASE, {}, "x"),
        "delete": lambda: gated.delete(LEASES, LEASE),
        "bind": lambda: gated.bind(Binding(LEASE, "n")),
        "evict": lambda: gated.evict(LEASE),
    }
    with pytest.raises(NotLeader):
        await writes[write]()


async def test_so_many_writes_are_under_way_at_a_time(
    cluster: MemoryCluster, clock: VirtualClock
) -> None:
    """Of five that take a second each, two go at once: the last is there after three seconds."""
    gate = Gate(clock)
    gate.open_until(100)

    class Slow:
        """Takes a second before each request."""

        async def before(self, _: ApiRequest) -> None:
            """Wait."""
            await clock.sleep(1)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Say nothing."""

    gated = GatedCluster(cluster.client("slow", Slow()), gate, at_once=2)
    bodies = [{"metadata": {"name": f"x-{number}"}} for number in range(5)]
    writes = [asyncio.ensure_future(gated.create(CONFIG_MAPS, SYSTEM, body)) for body in bodies]
    for seconds, done in ((1.5, 2), (1, 4), (1, 5)):
        await clock.advance(seconds)
        assert sum(one.done() for one in writes) == done
