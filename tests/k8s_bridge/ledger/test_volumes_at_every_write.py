"""Volumes made on first use, at every write of a leader that dies: selected for a gang that runs.

Where the gang goes back, nothing is left of the selection: a volume would be made for a node on
which no pod waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Conflict, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import VOLUME_CLAIMS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.binding import Binder
from fourleaf.k8s_bridge.ledger.commit import CommitRequest
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.volumes.volume_provisioning import NoVolumes
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.pods.volumes import SELECTED_BY_US, is_claim_bound
from tests.k8s_bridge.ledger.harness import TEAM, Death, InstantClock, Killed, Leader, World
from tests.twins.volume_provisioner import Provisioner, volume_of

PLACES = ("n-0-0-0", "n-0-0-1", "n-0-1-0")
LOST = PLACES[2]
NAMES = ("v-0", "v-1", "v-2")


class TrueVolumes(NoVolumes):
    """The claim of each pod, of its name, straight from the store: a watch without any lag."""

    def __init__(self, world: VolumeWorld) -> None:
        self._world = world

    def unprovisioned(self, pod: Target, /) -> Sequence[Target]:
        """The claim, while it has no volume."""
        claim = self._world.claims()[pod.name]
        return [] if is_claim_bound(claim) else [Target(TEAM, pod.name)]

    def provisioned(self, pod: Target, /) -> Sequence[str]:
        """Its volume, once it is there."""
        return [] if self.unprovisioned(pod) else [volume_of(pod.name)]

    def reaches(self, node: str, volume: str, /) -> bool | None:
        """Every node reaches every volume."""
        return True


class _BusyClock(InstantClock):
    """A clock on which the provisioner works while others sleep."""

    def __init__(self, world: VolumeWorld) -> None:
        super().__init__()
        self._world = world

    async def sleep(self, seconds: float) -> None:
        """Move on."""
        await super().sleep(seconds)
        self._world.provisioner.step()


class VolumeWorld(World):
    """The cluster, with a claim for each pod whose volume is made on first use."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.clock = _BusyClock(self)
        self.cluster.store.clock = self.clock
        self.provisioner = Provisioner(self.cluster.store, seconds)

    async def storing(self) -> None:
        """Submit a gang of three, with their claims."""
        await add_namespace(self.cluster, TEAM)
        bodies = gang("v", len(NAMES))
        for body in bodies:
            name = body["metadata"]["name"]
            await self.cluster.create(VOLUME_CLAIMS, TEAM, {"metadata": {"name": name}, "spec": {}})
            claim = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
            body["spec"]["volumes"] = [claim]
        await submit(self.cluster, TEAM, bodies)

    def wanted(self) -> CommitRequest:
        """The gang as it stands, on its nodes."""
        pods = {pod.name: pod for pod in map(_target, self.pods())}
        devices = tuple(range(8))
        members = tuple(
            Member(pods[name], node, devices) for name, node in zip(NAMES, PLACES, strict=True)
        )
        return CommitRequest(GangKey(TEAM, "v"), members)

    def claims(self) -> dict[str, Body]:
        """All claims as they stand, by name."""
        return {body["metadata"]["name"]: body for body in self.records_of(VOLUME_CLAIMS)}

    def selections(self) -> dict[str, Any]:
        """Claim without a volume -> what is left of a selection."""
        found = {}
        for name, claim in self.claims().items():
            said = claim["metadata"].get("annotations") or {}
            if said and not is_claim_bound(claim):
                found[name] = said
        return found

    @property
    def bound(self) -> set[str]:
        """The pods that are bound."""
        return {body["metadata"]["name"] for body in self.pods() if body["spec"].get("nodeName")}


def _target(body: Body) -> Target:
    metadata = body["metadata"]
    return Target(TEAM, metadata["name"], metadata["uid"], metadata["resourceVersion"])


class _LosesNode:
    """Loses the node of the last member once it is selected for its claim."""

    def __init__(self, world: VolumeWorld) -> None:
        self._world = world

    async def before(self, request: ApiRequest) -> None:
        """Let everything through."""

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Lose the node."""
        if request.kind is VOLUME_CLAIMS and LOST in str(self._world.selections().get("v-2")):
            self._world.true_pods.dead_nodes.add(LOST)


async def started(rolls_back: bool = False) -> VolumeWorld:
    """A cluster that is up, with the gang; volumes take too long where it is to go back."""
    world = VolumeWorld(10_000.0 if rolls_back else 3.0)
    await world.start()
    await world.storing()
    return world


async def lead(world: VolumeWorld, name: str, death: Death | None = None) -> Leader:
    """A leader that sees to volumes; it may die of its takeover already."""
    leader = Leader(world, name, death)
    await leader.take_over()
    leader.keeping.binder = Binder(
        leader.cluster, world.true_pods, world.clock, volumes=TrueVolumes(world)
    )
    return leader


async def run(world: VolumeWorld, death: Death, rolls_back: bool) -> None:
    """Let a leader place the gang until it dies; a node may be lost meanwhile."""
    leader = None
    with contextlib.suppress(Killed):
        leader = await lead(world, "a", death)
        if rolls_back:
            leader.cluster.interceptors.append(_LosesNode(world))
        await leader.commit(world.wanted())
        await leader.rest()
    if leader is not None:
        await leader.stop()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("rolls_back", [False, True])
async def test_killed_at_every_write(after: bool, rolls_back: bool) -> None:
    """Before and after each write: all three run, each where its volume is, or nothing is left.

    One leader alone writes five pages or more, three selections, and three bindings or three
    fences with three selections that are taken back.
    """
    world = await started(rolls_back)
    death = Death(at=0)
    await run(world, death, rolls_back)
    assert len(world.bound) == (0 if rolls_back else 3)
    assert not world.selections()
    count = len(death.writes)
    assert count >= 5 + 3 + (6 if rolls_back else 3)
    for at in range(1, count + 1):
        world = await started(rolls_back)
        await run(world, Death(at, after), rolls_back)
        heir = await lead(world, "b")
        if rolls_back:
            heir.cluster.interceptors.append(_LosesNode(world))
        await heir.rest()
        world.check()
        where = f"{death.writes[at - 1]}, write {at}"
        assert len(world.bound) in ((0,) if rolls_back else (0, 3)), where
        assert not world.selections(), where
        if not rolls_back and not world.bound:
            await heir.commit(world.wanted())
            await heir.rest()
            world.check()
            assert len(world.bound) == 3, where
            assert not world.selections(), where


class _Delayed:
    """Keeps what is sent to the last claim on its way."""

    def __init__(self) -> None:
        self.sent: ApiRequest | None = None

    async def before(self, request: ApiRequest) -> None:
        """Let it wait for ever."""
        if request.kind is VOLUME_CLAIMS and request.writes and request.target.name == NAMES[2]:
            self.sent = request
            await asyncio.Event().wait()

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Answers pass."""


async def test_a_selection_that_arrives_late_does_not_take() -> None:
    """A leader is gone as it selects the last node; the next one takes the gang back.

    What the first one had sent arrives then, and finds the claim at another version.
    """
    world = await started(rolls_back=True)
    leader = await lead(world, "a")
    delayed = _Delayed()
    leader.cluster.interceptors.append(delayed)
    await leader.commit(world.wanted())
    while delayed.sent is None:
        await asyncio.sleep(0)
    await leader.stop()
    world.true_pods.dead_nodes.add(LOST)
    heir = await lead(world, "b")
    await heir.rest()
    assert heir.rolled == [f"node {LOST} is not ready"]
    with pytest.raises(Conflict):
        await world.cluster.patch(VOLUME_CLAIMS, delayed.sent.target, delayed.sent.body)
    assert not world.selections()
    world.check()


class _Answers:
    """Fails the first `times` writes of claims that take a node off, in the way of `error`."""

    def __init__(self, error: Exception, times: int) -> None:
        self._error = error
        self._left = times

    async def before(self, request: ApiRequest) -> None:
        """Fail it."""
        if request.kind is VOLUME_CLAIMS and request.writes and self._left and self._takes(request):
            self._left -= 1
            raise self._error

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Answers pass."""

    def _takes(self, request: ApiRequest) -> bool:
        body: Any = request.body
        return body["metadata"]["annotations"].get(SELECTED_BY_US, "") is None


@pytest.mark.parametrize(
    ("error", "times", "left"),
    [
        (Throttled("busy", 429), 3, False),
        (Throttled("busy", 429), 10**6, True),
        (Refused("no", 403), 10**6, True),
    ],
)
async def test_a_node_is_taken_off_as_soon_as_the_api_has_time(
    error: Exception, times: int, left: bool
) -> None:
    """Asked for again for half a minute; then the nodes are free, and the selection is left."""
    world = await started(rolls_back=True)
    leader = await lead(world, "a")
    leader.cluster.interceptors += [_LosesNode(world), _Answers(error, times)]
    await leader.commit(world.wanted())
    await leader.rest()
    world.check()
    assert bool(world.selections()) is left
