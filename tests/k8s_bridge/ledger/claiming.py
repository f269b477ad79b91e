"""Gangs whose devices are claimed, for the small cluster in memory, and what must hold of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import RESOURCE_CLAIMS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.actors import target as exact
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.commit import CommitRequest
from fourleaf.k8s_bridge.ledger.pods import pod_seen
from fourleaf.k8s_bridge.ledger.records import ClaimAllocation, Member
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.ledger.harness import TEAM, World
from tests.twins.resource_claims import DRIVER, ClaimController, claim_spec

GPUS = tuple(f"gpu-{i}" for i in range(8))


class _Both:
    """Kubelets, and the controller of claims, step by step."""

    def __init__(self, world: World) -> None:
        self._kubelets = world.kubelets
        self._claims = ClaimController(world.cluster.store)

    def step(self) -> int:
        """Do what there is to do."""
        done = self._kubelets.step()
        self._claims.step()
        return done


class ClaimWorld(World):
    """The cluster, with a claim for all GPUs of a node for each pod."""

    def __init__(self) -> None:
        super().__init__()
        self.kubelets = _Both(self)  # type: ignore[assignment]

    async def claiming(self, name: str, places: Sequence[str]) -> CommitRequest:
        """Submit a gang with a claim for each pod, and want both on these nodes."""
        pods = await submit(self.cluster, TEAM, gang(name, len(places), 0))
        for pod in pods:
            body = {"metadata": {"name": pod.name}, "spec": claim_spec(len(GPUS))}
            await self.cluster.create(RESOURCE_CLAIMS, TEAM, body)
        return self.again(name, places)

    def again(self, name: str, places: Sequence[str]) -> CommitRequest:
        """The same gang as it stands now, on these nodes."""
        claims = {body["metadata"]["name"]: body for body in self.claims()}
        members = []
        pods = {pod_seen(body).pod.name: pod_seen(body).pod for body in self.pods()}
        for i, node in enumerate(places):
            pod = pods[f"{name}-{i}"]
            devices = tuple(("gpus", DeviceName(DRIVER, node, gpu)) for gpu in GPUS)
            allocation = ClaimAllocation(exact(claims[pod.name]), devices)
            members.append(Member(pod, node, claims=(allocation,)))
        return CommitRequest(GangKey(TEAM, name), tuple(members))

    def claims(self) -> list[Body]:
        """All claims as they stand."""
        return self.records_of(RESOURCE_CLAIMS)

    def check_claims(self) -> None:
        """Assert that no device is held twice, and that exactly bound pods have theirs."""
        holders: dict[tuple[str, str], str] = {}
        bound = {
            seen.pod.uid: seen.node
            for seen in map(pod_seen, self.pods())
            if seen.node and not seen.finished
        }
        users = set()
        for claim in self.claims():
            name, status = claim["metadata"]["name"], claim.get("status") or {}
            allocation = status.get("allocation")
            if not allocation:
                assert not status.get("reservedFor"), f"{name} is reserved without devices"
                continue
            (user,) = status["reservedFor"]
            users.add(user["uid"])
            for one in allocation["devices"]["results"]:
                key = (one["pool"], one["device"])
                assert key not in holders, f"{name} and {holders[key]} share {key}"
                holders[key] = name
                assert one["pool"] == bound.get(user["uid"]), f"{name} holds what {user} has not"
        assert users == bound.keys(), "pods are bound without their devices"


@dataclass
class Interrupt:
    """Lets others work before write number `at` of a client, while that one stands still."""

    at: int
    work: Callable[[], Awaitable[None]]
    writes: list[str] = field(default_factory=list)

    async def before(self, request: ApiRequest) -> None:
        """Count a write, and stand still where it is time."""
        if request.writes:
            self.writes.append(f"{request.verb} {request.kind.plural}/{request.subresource}")
            if len(self.writes) == self.at:
                await asyncio.shield(self.work())

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Nothing."""


async def started() -> ClaimWorld:
    """A cluster that is up."""
    world = ClaimWorld()
    await world.start()
    return world
