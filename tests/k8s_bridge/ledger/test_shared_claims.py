"""A claim that several pods use: each joins and leaves it, and what the others have stays."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import pytest

from fourleaf.k8s_bridge.cluster.kinds import PODS, RESOURCE_CLAIMS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.actors import target as exact
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.commit import CommitRequest
from fourleaf.k8s_bridge.ledger.pods import pod_seen
from fourleaf.k8s_bridge.ledger.records import ClaimAllocation, Member
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.ledger.claiming import ClaimWorld
from tests.k8s_bridge.ledger.harness import TEAM, Death, Killed, Leader
from tests.twins.resource_claims import COMPUTE_DOMAIN, channel_spec

SHARED = Target(TEAM, "shared")
NODE = "n-0-0-0"
OTHER = "n-0-0-1"
PLACES = (NODE, NODE, OTHER)


class SharedWorld(ClaimWorld):
    """A claim that a stranger, a pod of another scheduler, uses on one node."""

    async def shared(self) -> None:
        """Make the claim and the stranger, for whom another scheduler allocated it."""
        (stranger,) = await submit(self.cluster, TEAM, gang("stranger", 1, 0))
        body = {"metadata": {"name": SHARED.name}, "spec": channel_spec()}
        await self.cluster.create(RESOURCE_CLAIMS, TEAM, body)
        user = {"resource": "pods", "name": stranger.name, "uid": stranger.uid}
        await self.give(allocation(NODE), [user])

    async def give(self, given: Body | None, users: Sequence[Body]) -> None:
        """Let the claim be allocated, and used by these, as another scheduler does it."""
        status = {"allocation": given, "reservedFor": list(users) or None}
        await self.cluster.patch(RESOURCE_CLAIMS, SHARED, {"status": status}, "status")

    async def joining(self, name: str, places: Sequence[str]) -> CommitRequest:
        """A gang whose pods all use the claim."""
        if not any(pod.name.startswith(name) for pod in self.targets()):
            await submit(self.cluster, TEAM, gang(name, len(places), 0))
        pods = {pod.name: pod for pod in self.targets()}
        claim = exact(await self.cluster.get(RESOURCE_CLAIMS, SHARED))
        held = (("channel", DeviceName(COMPUTE_DOMAIN, NODE, "channel-0")),)
        members = tuple(
            Member(pods[f"{name}-{i}"], node, claims=(ClaimAllocation(claim, held),))
            for i, node in enumerate(places)
        )
        return CommitRequest(GangKey(TEAM, name), members)

    def targets(self) -> list[Target]:
        """All pods as they are named."""
        return [pod_seen(body).pod for body in self.pods()]

    @property
    def claim(self) -> Body:
        """The claim as it stands."""
        (body,) = self.claims()
        return body

    @property
    def users(self) -> set[str]:
        """The pods that use the claim."""
        return {one["name"] for one in (self.claim.get("status") or {}).get("reservedFor") or ()}

    @property
    def bound(self) -> set[str]:
        """The pods that are bound."""
        return {body["metadata"]["name"] for body in self.pods() if body["spec"].get("nodeName")}

    def check_shared(self) -> None:
        """Assert that whoever is bound uses the claim, and that the stranger never loses it."""
        assert (self.claim.get("status") or {}).get("allocation") == allocation(NODE)
        assert self.users == self.bound | {"stranger-0"}


def allocation(node: str) -> Body:
    """The channel of a node."""
    result = {"request": "channel", "driver": COMPUTE_DOMAIN, "pool": node, "device": "channel-0"}
    return {"devices": {"results": [result]}}


async def started() -> SharedWorld:
    """A cluster that is up, with the claim in it."""
    world = SharedWorld()
    await world.start()
    await world.shared()
    return world


class _LosesNode:
    """Loses the node of the last member once the claim is its own too."""

    def __init__(self, world: SharedWorld) -> None:
        self._world = world

    async def before(self, request: ApiRequest) -> None:
        """Let everything through."""

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Lose the node."""
        if request.subresource == "status" and "g-2" in self._world.users:
            self._world.true_pods.dead_nodes.add(OTHER)


async def run(world: SharedWorld, death: Death, rolls_back: bool) -> None:
    """Let a leader place a gang of three until it dies; a node may be lost meanwhile."""
    wanted = await world.joining("g", PLACES)
    leader = Leader(world, "a", death)
    if rolls_back:
        leader.cluster.interceptors.append(_LosesNode(world))
    with contextlib.suppress(Killed):
        await leader.take_over()
        await leader.commit(wanted)
        await leader.rest()
    await leader.stop()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("rolls_back", [False, True])
async def test_killed_at_every_write(after: bool, rolls_back: bool) -> None:
    """Before and after each write: exactly bound pods and the stranger use the claim at rest."""
    world = await started()
    death = Death(at=0)
    await run(world, death, rolls_back)
    world.check_shared()
    count = len(death.writes)
    assert count >= 1 + 3 * 3
    for at in range(1, count + 1):
        world = await started()
        await run(world, Death(at, after), rolls_back)
        heir = await Leader(world, "b").take_over()
        await heir.rest()
        world.check_shared()
        world.true_pods.dead_nodes.clear()
        left = {pod.name for pod in world.targets()} - {"stranger-0"}
        if len(left) == 3 and not world.bound:
            await heir.commit(await world.joining("g", PLACES))
            await heir.rest()
        world.check()
        world.check_shared()
        # Pods that were bound when their gang went back have been evicted.
        assert len(world.bound) == (3 if len(left) == 3 else 0)


async def test_the_last_that_leaves_frees_the_claim() -> None:
    """The stranger ends while the gang joins; the gang goes back, and nothing holds the device."""
    world = await started()
    wanted = await world.joining("g", [NODE, OTHER])
    leader = await Leader(world, "a").take_over()

    class Ends:
        async def before(self, request: ApiRequest) -> None:
            """Let everything through."""

        async def after(self, request: ApiRequest, answer: object) -> None:
            """End the stranger once both use the claim, and lose a node."""
            if request.subresource == "status" and {"g-0", "g-1"} <= world.users:
                with contextlib.suppress(LookupError):
                    await world.cluster.delete(PODS, Target(TEAM, "stranger-0"))
                world.true_pods.dead_nodes.update((NODE, OTHER))

    leader.cluster.interceptors.append(Ends())
    await leader.commit(wanted)
    await leader.rest()
    assert not world.bound
    assert not (world.claim.get("status") or {}).get("allocation")
    assert not world.users


async def test_a_claim_that_moved_meanwhile_takes_the_gang_back() -> None:
    """It was freed and given another node's device: nobody joins there, and theirs stays."""
    world = await started()
    wanted = await world.joining("g", [NODE])
    users = world.claim["status"]["reservedFor"]
    await world.give(None, ())
    await world.give(allocation(OTHER), users)
    leader = await Leader(world, "a").take_over()
    await leader.commit(wanted)
    await leader.rest()
    assert leader.rolled == ["ResourceClaim ml/shared has other devices"]
    assert not world.bound
    assert world.users == {"stranger-0"}
    assert world.claim["status"]["allocation"] == allocation(OTHER)


async def test_a_claim_of_one_pod_is_not_shared() -> None:
    """One that a template made for a pod is that pod's, though another got hold of it."""
    world = await started()
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "g-0", "uid": "u", "controller": True}
    await world.cluster.patch(RESOURCE_CLAIMS, SHARED, {"metadata": {"ownerReferences": [owner]}})
    leader = await Leader(world, "a").take_over()
    await leader.commit(await world.joining("g", [NODE]))
    await leader.rest()
    assert leader.rolled == ["ResourceClaim ml/shared is in use by others"]
    assert world.users == {"stranger-0"}
