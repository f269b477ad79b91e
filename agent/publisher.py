"""Publisher: writes the inventory of a node to the cluster, where it has changed and not else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from fourleaf.agent.node import NodeIdentity
from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import GPU_NODE_STATUSES, NODES
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.crds.node_status import NodeDevices

MANAGER = "fourleaf-agent"
"""The field manager of what the agent applies."""

_MALFORMED = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class PublishIntervals:
    """How often, in seconds, what stands is read again, and processes are written at most."""

    look: float = 300.0
    processes: float = 60.0


class Publisher:
    """Publishes the inventory of one node.

    Processes come and go, so a change of them alone is written at most once in a while; what
    memory they use counts for nothing, and is as of the last write. What stands is read at the
    start and now and then, since it may have been changed or deleted.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, pace: PublishIntervals | None = None
    ) -> None:
        self.writes = 0
        self.standing: NodeDevices | None = None
        self._cluster = cluster
        self._clock = clock
        self._pace = pace or PublishIntervals()
        self._owner = ""
        self._refused: NodeDevices | None = None
        self._looked_at = self._written_at = float("-inf")

    async def look(self, name: str) -> None:
        """Read what stands, where that was not done lately. Raises `ClusterError`."""
        if self._clock.monotonic() - self._looked_at < self._pace.look:
            return
        try:
            body = await self._cluster.get(GPU_NODE_STATUSES, Target("", name))
        except NotFound:
            body = {}
        self.standing, self._owner = _devices(body), _owner(body)
        self._looked_at = self._clock.monotonic()

    async def publish(self, node: NodeIdentity, devices: NodeDevices) -> bool:
        """Have `devices` stand as the inventory of `node`; whether that took a write.

        Raises `ClusterError`; what was sent may have arrived then, and is read the next time.
        """
        await self.look(node.name)
        if not self._due(node, devices):
            return False
        try:
            await self._write(node, devices)
        except ClusterError:
            self._looked_at = float("-inf")
            raise
        return True

    def _due(self, node: NodeIdentity, devices: NodeDevices) -> bool:
        if self.standing is None or self._owner != node.uid:
            return True
        if _essence(devices) == _essence(self.standing) or _timeless(devices) == self._refused:
            return False
        if _essence(devices, processes=False) != _essence(self.standing, processes=False):
            return True
        return self._clock.monotonic() - self._written_at >= self._pace.processes

    async def _write(self, node: NodeIdentity, devices: NodeDevices) -> None:
        try:
            await self._apply(node, devices)
            self._refused = None
        except Refused as error:
            if error.status not in _MALFORMED:
                raise
            # Better an inventory that says that it is none than an old one that seems to hold.
            devices, self._refused = _refusal(devices, error), _timeless(devices)
            await self._apply(node, devices)
        self.standing, self._owner = devices, node.uid
        self._written_at = self._clock.monotonic()

    async def _apply(self, node: NodeIdentity, devices: NodeDevices) -> None:
        target = Target("", node.name)
        status = {"status": devices.model_dump(mode="json", by_alias=True, exclude_none=True)}
        if self._owner == node.uid:
            with suppress(NotFound):
                await self._cluster.apply(GPU_NODE_STATUSES, target, status, MANAGER, "status")
                self.writes += 1
                return
        await self._cluster.apply(GPU_NODE_STATUSES, target, _object(node), MANAGER)
        self.writes += 1
        await self._cluster.apply(GPU_NODE_STATUSES, target, status, MANAGER, "status")
        self.writes += 1


def _object(node: NodeIdentity) -> Body:
    """All but the status: the inventory goes when its node does."""
    owner = {
        "apiVersion": NODES.api_version,
        "kind": NODES.name,
        "name": node.name,
        "uid": node.uid,
    }
    return {"metadata": {"ownerReferences": [owner]}}


def _devices(body: Body) -> NodeDevices | None:
    try:
        return NodeDevices.model_validate(body["status"])
    except (KeyError, ValidationError):
        return None


def _owner(body: Body) -> str:
    owners = (body.get("metadata") or {}).get("ownerReferences") or ()
    return next((str(one.get("uid")) for one in owners if one.get("kind") == NODES.name), "")


def _essence(devices: NodeDevices, processes: bool = True) -> NodeDevices:
    """What of an inventory is news when it changes."""
    kept = [one.model_copy(update={"memory_mib": 0}) for one in devices.processes]
    return devices.model_copy(update={"processes": kept if processes else []})


def _timeless(devices: NodeDevices) -> NodeDevices:
    """The essence without the times of conditions, which a refusal changes."""
    told = [one.model_copy(update={"last_transition_time": ""}) for one in devices.conditions]
    return _essence(devices).model_copy(update={"conditions": told})


def _refusal(devices: NodeDevices, error: Refused) -> NodeDevices:
    told = [
        one.model_copy(
            update={"status": "False", "reason": "Refused", "message": clipped(str(error))}
        )
        if one.type == "Ready"
        else one
        for one in devices.conditions
    ]
    bare = {"gpus": [], "links": [], "processes": [], "conditions": told}
    return devices.model_copy(update=bare)
