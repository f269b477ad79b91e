"""A gang goes back where one of its claims can never get its devices, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import PODS, RESOURCE_CLAIMS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.binding import Binder
from fourleaf.k8s_bridge.ledger.claim_allocation import NoDrivers
from fourleaf.k8s_bridge.ledger.permanent_refusal import PERMANENT_AFTER_SECONDS
from fourleaf.k8s_bridge.ledger.pods import PodLister, PodSeen
from fourleaf.k8s_bridge.ledger.rollback import Rollback
from fourleaf.model.devices.names import DeviceName
from tests.k8s_bridge.ledger.claiming import ClaimWorld, started
from tests.k8s_bridge.ledger.harness import TEAM, Death, Killed, Leader, on


async def test_a_claim_with_other_devices_takes_the_gang_back() -> None:
    """Somebody gave one claim something else: nobody is bound, and theirs stays as it is."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    other = {
        "devices": {
            "results": [{"request": "gpus", "driver": "d", "pool": "elsewhere", "device": "x"}]
        }
    }
    await world.cluster.patch(
        RESOURCE_CLAIMS, Target(TEAM, "g-1"), {"status": {"allocation": other}}, "status"
    )
    leader = await Leader(world, "a").take_over()
    await leader.commit(wanted)
    await leader.rest()
    assert leader.rolled == ["ResourceClaim ml/g-1 has other devices"]
    assert not any(body["spec"].get("nodeName") for body in world.pods())
    first, second = world.claims()
    assert not first.get("status", {}).get("allocation")
    assert second["status"]["allocation"] == other
    assert not any(page.entries for page in world.pages())


class NoAnswer:
    """Writes of one claim fail as those behind a webhook that is down, until it `is_up`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_up = False

    async def before(self, request: ApiRequest) -> None:
        """Fail it."""
        is_claim = request.kind is RESOURCE_CLAIMS and request.writes
        if is_claim and request.target.name == self.name and not self.is_up:
            raise Ambiguous("failed calling webhook", 500)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def _pass(world: ClaimWorld, leader: Leader, seconds: float) -> None:
    """Let time pass, in which the leader works."""
    until = world.clock.now + seconds
    while world.clock.now < until:
        await leader.keeping.run_once()
        world.kubelets.step()
        await asyncio.sleep(0)
        world.clock.now += 0.1


async def test_a_claim_without_an_answer_takes_the_gang_back() -> None:
    """Three of four are bound; for the claim of the fourth no write is answered in two minutes.

    What runs goes, what waits is told why, and nothing is held once the webhook is up.
    """
    world = await started()
    wanted = await world.claiming("g", on(0, size=4))
    leader = Leader(world, "a")
    webhook = NoAnswer("g-3")
    leader.cluster.interceptors.append(webhook)
    await leader.take_over()
    await leader.commit(wanted)
    await _pass(world, leader, 200.0)
    assert leader.rolled == [
        f"the allocation of a claim of pod ml/g-3 to {on(0, size=4)[3]} has not taken in 120 s: "
        "failed calling webhook"
    ]
    assert not any(body["spec"].get("nodeName") for body in world.pods())
    webhook.is_up = True
    await _pass(world, leader, 100.0)
    assert not any(page.entries for page in world.pages())
    assert not any(body.get("status", {}).get("allocation") for body in world.claims())


async def test_a_claim_without_an_answer_holds_nothing_for_pods_that_are_gone() -> None:
    """All four are deleted meanwhile: their nodes are free within a minute."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=4))
    leader = Leader(world, "a")
    leader.cluster.interceptors.append(NoAnswer("g-3"))
    await leader.take_over()
    await leader.commit(wanted)
    await _pass(world, leader, 5.0)
    for body in world.pods():
        await world.cluster.delete(PODS, Target(TEAM, body["metadata"]["name"]))
    await _pass(world, leader, 60.0)
    assert not leader.ledger.open_commits()


async def test_a_claim_made_anew_takes_the_gang_back() -> None:
    """The claim that was planned with is gone; one of its name is another."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    body = await world.cluster.get(RESOURCE_CLAIMS, Target(TEAM, "g-0"))
    await world.cluster.delete(RESOURCE_CLAIMS, Target(TEAM, "g-0"))
    fresh = {"metadata": {"name": "g-0"}, "spec": body["spec"]}
    await world.cluster.create(RESOURCE_CLAIMS, TEAM, fresh)
    leader = await Leader(world, "a").take_over()
    await leader.commit(wanted)
    await leader.rest()
    assert leader.rolled == ["ResourceClaim ml/g-0 is another one by now"]
    assert not any((claim.get("status") or {}).get("allocation") for claim in world.claims())


async def test_a_claim_that_takes_no_change_takes_the_gang_back() -> None:
    """The API refuses each patch as one of the spec: nobody is bound, and nothing stays held.

    As a real one does where a client has stored opaque parameters with spaces in them.
    """
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))

    class Immutable:
        async def before(self, request: ApiRequest) -> None:
            """Refuse what is not about the status of the second claim."""
            patched = request.kind is RESOURCE_CLAIMS and request.verb == "patch"
            if patched and not request.subresource and request.target.name == "g-1":
                said = 'ResourceClaim "g-1" is invalid: spec: Invalid value: {}: field is immutable'
                raise Refused(said, 422, "Invalid")

        async def after(self, request: ApiRequest, answer: object) -> None:
            """Nothing."""

    leader = await Leader(world, "a").take_over()
    leader.cluster.interceptors.append(Immutable())
    await leader.commit(wanted)
    await leader.rest()
    assert len(leader.rolled) == 1
    assert "ml/g-1 takes no change: its opaque parameters were stored" in leader.rolled[0]
    assert not any(body["spec"].get("nodeName") for body in world.pods())
    world.check_claims()
    assert not any(page.entries for page in world.pages())


class Without(NoDrivers):
    """Drivers that have taken one device away."""

    def __init__(self, gone: str) -> None:
        self._gone = gone

    def lacks(self, _node: str, names: Sequence[DeviceName], _held: bool, /) -> str:
        """That device."""
        return next((str(name) for name in names if name.device == self._gone), "")


async def test_a_device_that_went_meanwhile_takes_the_gang_back() -> None:
    """A new leader finds the commit, but no longer the device: it frees what was written."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    death = Death(at=0, after=True)
    first = await Leader(world, "a", death).take_over()
    # the page, two finalizers, one status
    death.at = len(death.writes) + 1 + 2 + 1
    with contextlib.suppress(Killed):
        await first.commit(wanted)
        await first.rest()
    await first.stop()
    assert any((claim.get("status") or {}).get("allocation") for claim in world.claims())
    second = await Leader(world, "b").take_over()
    binder = Binder(second.cluster, world.true_pods, world.clock, Without("gpu-7"))
    second.keeping.binder = binder
    await second.rest()
    assert len(second.rolled) == 1
    assert "gpu-7" in second.rolled[0]
    assert not any(body["spec"].get("nodeName") for body in world.pods())
    world.check_claims()
    world.check()


@pytest.mark.parametrize(
    ("seconds", "bound"),
    [(PERMANENT_AFTER_SECONDS / 2, True), (PERMANENT_AFTER_SECONDS * 2, False)],
)
async def test_a_write_that_is_forbidden_is_not_given_up_at_once(
    seconds: float, bound: bool
) -> None:
    """A server that has just started forbids everything; one that goes on ends the commit."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=1))
    until = world.clock.now + seconds

    class Forbids:
        async def before(self, request: ApiRequest) -> None:
            """Refuse what is written into status until it is time."""
            if request.subresource == "status" and world.clock.now < until:
                raise Refused("not allowed yet", 403, "Forbidden")

        async def after(self, request: ApiRequest, answer: object) -> None:
            """Nothing."""

    leader = await Leader(world, "a").take_over()
    leader.cluster.interceptors.append(Forbids())
    await leader.commit(wanted)
    await leader.rest()
    assert [bool(body["spec"].get("nodeName")) for body in world.pods()] == [bound]
    assert leader.rolled == ([] if bound else ["ResourceClaim ml/g-0: not allowed yet"])
    world.check_claims()


async def test_a_write_that_is_forbidden_and_put_off_in_turn_is_refused() -> None:
    """A 429 says nothing of it: the commit ends by the refusal, and within half a minute."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=1))
    turns = itertools.cycle((Refused("not allowed", 403), Throttled("too many requests", 429)))

    class Forbids:
        async def before(self, request: ApiRequest) -> None:
            """Refuse what is written into status, or put it off."""
            if request.subresource == "status":
                raise next(turns)

        async def after(self, request: ApiRequest, answer: object) -> None:
            """Nothing."""

    leader = await Leader(world, "a").take_over()
    leader.cluster.interceptors.append(Forbids())
    began = world.clock.now
    await leader.commit(wanted)
    await leader.rest()
    assert leader.rolled == ["ResourceClaim ml/g-0: not allowed"]
    assert world.clock.now < began + 60


class Busy:
    """An API that answers evictions so."""

    def __init__(self, error: ClusterError) -> None:
        self.error = error

    async def before(self, request: ApiRequest) -> None:
        """Put it off."""
        if request.subresource == "eviction":
            raise self.error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


class Unbound:
    """Pods as a watch shows them that has not heard of their bindings yet."""

    def __init__(self, pods: PodLister) -> None:
        self._pods = pods

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pods, name)

    def seen(self, uid: str) -> PodSeen | None:
        """The pod, which waits."""
        found = self._pods.seen(uid)
        return found and replace(found, node="")


async def test_claims_of_a_pod_that_turns_out_to_be_bound_are_not_freed() -> None:
    """Its gang goes back as its binding comes, of which the watch is late: it holds its devices."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    leader = await Leader(world, "a").take_over()
    await leader.commit(wanted)
    await leader.rest()
    held = [body["status"]["allocation"] for body in world.claims()]
    keeping = leader.keeping
    pods, took = Unbound(world.true_pods), list[Body]()
    going = Rollback(
        leader.cluster,
        keeping.binder.allocator,
        keeping.binder.provisioner,
        pods,
        took.append,
        took.append,
    )
    for member in wanted.members:
        await going.let_go("c", member)
    assert [body["status"]["allocation"] for body in world.claims()] == held
    assert all(body["spec"].get("nodeName") for body in took)


@pytest.mark.parametrize("doubted", [True, False])
async def test_claims_on_a_node_in_doubt_wait_for_it(
    doubted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its state is unknown for a moment: the gang is not taken back, as one is on a lost node."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=2))
    leader = await Leader(world, "a").take_over()
    late, reads = on(0, size=2)[1], list[str]()
    monkeypatch.setattr(world.true_pods, "is_doubted", lambda node: doubted and node == late)

    class Lost:
        async def before(self, request: ApiRequest) -> None:
            """Read the claim of the second pod for the first time: its node is silent then."""
            name = request.target.name
            if request.kind is RESOURCE_CLAIMS and request.verb == "get" and name == "g-1":
                reads.append(name)
                if len(reads) == 1:
                    monkeypatch.setattr(world.true_pods, "usable", lambda node: node != late)
                    raise Ambiguous("no answer", 500)
                monkeypatch.setattr(world.true_pods, "usable", lambda _node: True)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    leader.cluster.interceptors.append(Lost())
    await leader.commit(wanted)
    await leader.rest()
    assert leader.rolled == ([] if doubted else [f"node {late} is not ready"])
    assert reads


async def test_who_cannot_be_let_go_yet_is_asked_for_when_the_api_says() -> None:
    """It has too much to do, and says for how long; where it does not, in two seconds."""
    world = await started()
    wanted = await world.claiming("g", on(0, size=1))
    leader = await Leader(world, "a").take_over()
    await leader.commit(wanted)
    await leader.rest()
    binder, waits = leader.keeping.binder, list[float]()
    for retry_after in (25.0, None):
        busy = Busy(Throttled("too many requests", 429, retry_after=retry_after))
        cluster = world.cluster.client("b", busy)
        took = list[Body]()
        going = Rollback(
            cluster, binder.allocator, binder.provisioner, world.true_pods, took.append, took.append
        )
        waits.append(await going.let_go("c", wanted.members[0]))
    assert waits == [25.0, 2.0]
