"""Follows the Leases of kubelets, in every replica: whoever takes over knows who is silent."""

from __future__ import annotations

from fourleaf.k8s_bridge.clock import Clock
from fourleaf.k8s_bridge.cluster.kinds import LEASES, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.node_health.beats import Beats
from fourleaf.k8s_bridge.reflect import Absent, Change, Put, Reflectors, Removed, Replaced, Subject

NAMESPACE = "kube-node-lease"


class BeatsFollower:
    """`beats` are what is heard while `run` runs.

    Nothing waits for it: where the Leases may not be read, nobody is silent, and a node is
    dead once the API says so.
    """

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self.beats = Beats()
        self._clock = clock
        subject = Subject(LEASES, namespace=NAMESPACE, cached=True)
        self._reflectors = Reflectors(cluster, clock, [subject], self._on_change)

    async def run(self) -> None:
        """Follow them until cancelled."""
        async with self._reflectors:
            await self._reflectors.broken()

    def _on_change(self, _: Kind, change: Change) -> None:
        now = self._clock.monotonic()
        match change:
            case Put(body):
                self.beats.heard(body["metadata"]["name"], _renewed(body), now)
            case Removed(body):
                self.beats.forget(body["metadata"]["name"])
            case Replaced(items, _, _):
                renewed = {body["metadata"]["name"]: _renewed(body) for body in items}
                self.beats.heard_all(renewed, now)
            case Absent():
                self.beats.heard_all({}, now)


def _renewed(body: Body) -> str:
    return str((body.get("spec") or {}).get("renewTime", ""))
