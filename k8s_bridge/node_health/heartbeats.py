"""Heartbeats: when each kubelet was last seen to renew its Lease, on our own clock.

The time in a Lease counts for nothing, for no two clocks agree. A silence of all kubelets says
more about us, or about the API, than about any kubelet: no time counts while none is heard, and
each one that is there afterwards gets the whole limit again, once until it is heard itself.

Every replica follows the Leases of kubelets, so that a new leader knows which nodes are silent.
"""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.k8s_bridge.cluster.kinds import LEASES, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.informers import (
    Absent,
    Change,
    Informers,
    Put,
    Removed,
    Replaced,
    Selection,
)
from fourleaf.k8s_bridge.runtime.clock import Clock

COMMON_SILENCE_SECONDS = 12.0
"""Seconds without any heartbeat after which no node's silence counts. A kubelet renews its
Lease every 10 s."""

UNHEARD_SECONDS = 60.0
"""Seconds without any heartbeat after which it is not known who is silent: Leases may not be read
any more. Where no kubelet renews its own, the node controller has given most nodes up by then."""


class Heartbeats:
    """What has been heard. `now` is always in monotonic seconds."""

    def __init__(self) -> None:
        self._renewed: dict[str, str] = {}
        self._heard: dict[str, float] = {}
        self._resumed: set[str] = set()
        """Nodes that were given the whole limit again, and have not been heard since."""
        self._newest = float("-inf")

    def heard(self, node: str, renewed: str, now: float) -> None:
        """The Lease of `node` says `renewed`; a heartbeat if it said something else before."""
        if self._renewed.get(node) == renewed:
            return
        self._interrupted(now)
        self._renewed[node] = renewed
        self._heard[node] = self._newest = now
        self._resumed.discard(node)

    def heard_all(self, renewed: Mapping[str, str], now: float) -> None:
        """These are all Leases there are."""
        for node in self._renewed.keys() - renewed.keys():
            self.forget(node)
        for node, said in renewed.items():
            self.heard(node, said, now)

    def forget(self, node: str) -> None:
        """The Lease of `node` is gone."""
        self._renewed.pop(node, None)
        self._heard.pop(node, None)

    def renewed(self, node: str) -> str:
        """What the Lease of `node` says; "" where there is none."""
        return self._renewed.get(node, "")

    def silence(self, node: str, now: float) -> float | None:
        """Seconds since the last heartbeat; None where there has never been one.

        0 while no node is heard, and None again where that lasts.
        """
        heard, common = self._heard.get(node), now - self._newest
        if heard is None or common > UNHEARD_SECONDS:
            return None
        return 0.0 if common > COMMON_SILENCE_SECONDS else now - heard

    def hushed(self, now: float) -> bool:
        """Whether no node is heard any more, though some were: no silence tells of a node then."""
        return COMMON_SILENCE_SECONDS < now - self._newest < float("inf")

    def _interrupted(self, now: float) -> None:
        uncounted = now - self._newest - COMMON_SILENCE_SECONDS
        if uncounted <= 0:
            return
        # Once only: the last kubelet that is heard may renew its Lease less often than that.
        self._heard = {
            node: heard + uncounted if node in self._resumed else now
            for node, heard in self._heard.items()
        }
        self._resumed = set(self._heard)


NAMESPACE = "kube-node-lease"


class HeartbeatInformer:
    """Heartbeats of kubelets, heard while `run` runs.

    Nothing waits for it: where the Leases may not be read, or no more, no node is silent, and one
    is dead once the API says so.
    """

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self.heartbeats = Heartbeats()
        self._clock = clock
        selection = Selection(LEASES, namespace=NAMESPACE, cached=True)
        self._reflectors = Informers(cluster, clock, [selection], self._on_change)

    async def run(self) -> None:
        """Follow them until cancelled."""
        async with self._reflectors:
            await self._reflectors.broken()

    def _on_change(self, _: Kind, change: Change) -> None:
        now = self._clock.monotonic()
        match change:
            case Put(body):
                self.heartbeats.heard(body["metadata"]["name"], _renewed(body), now)
            case Removed(body):
                self.heartbeats.forget(body["metadata"]["name"])
            case Replaced(items, _, _):
                renewed = {body["metadata"]["name"]: _renewed(body) for body in items}
                self.heartbeats.heard_all(renewed, now)
            case Absent():
                self.heartbeats.heard_all({}, now)


def _renewed(body: Body) -> str:
    return str((body.get("spec") or {}).get("renewTime", ""))
