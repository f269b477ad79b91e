"""The heartbeats of kubelets in memory, and whether their hosts answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.node_health.heartbeats import NAMESPACE
from fourleaf.k8s_bridge.node_health.probe import KubeletAddress
from fourleaf.k8s_bridge.runtime.api_text import microsecond

HEARTBEAT_SECONDS = 10.0
"""Seconds from one renewal to the next."""


class FakeHeartbeats:
    """Every node renews its Lease every `HEARTBEAT_SECONDS` seconds, each at its own times.

    Nodes in `silent` do not, nor does any while `hushed`. Hosts answer at the doors of their
    kubelets, but for those in `unreachable`; the name of a node is its address.
    """

    def __init__(self, store: MemoryStore) -> None:
        self.silent: set[str] = set()
        self.unreachable: set[str] = set()
        self.hushed = False
        self._store = store
        self._beaten: dict[str, float] = {}

    def lose(self, nodes: Iterable[str]) -> None:
        """These nodes lose power."""
        lost = set(nodes)
        self.silent |= lost
        self.unreachable |= lost

    def restore(self, nodes: Iterable[str]) -> None:
        """These nodes have power again."""
        back = set(nodes)
        self.silent -= back
        self.unreachable -= back

    async def answers(self, door: KubeletAddress) -> bool:
        """Whether a host answers there."""
        return door.host not in self.unreachable

    async def run(self, seconds: float = 0.5) -> None:
        """Renew the Leases for ever."""
        while True:
            self.step()
            await self._store.clock.sleep(seconds)

    def step(self) -> None:
        """Renew the Leases that are due."""
        now = self._store.clock.monotonic()
        for record in list(self._store.records(NODES)):
            name = record.metadata["name"]
            if self.hushed or name in self.silent:
                continue
            if name not in self._beaten:
                self._beaten[name] = now - zlib.crc32(name.encode()) % int(HEARTBEAT_SECONDS)
                self._renew(name)
            elif now - self._beaten[name] >= HEARTBEAT_SECONDS:
                self._beaten[name] = now
                self._renew(name)

    def _renew(self, name: str) -> None:
        spec = {"holderIdentity": name, "renewTime": microsecond(self._store.clock.wall())}
        body: Body = {"metadata": {"name": name}, "spec": spec}
        try:
            record = self._store.find(LEASES, Target(NAMESPACE, name))
        except NotFound:
            self._store.create(LEASES, NAMESPACE, body)
        else:
            self._store.update(LEASES, record, {**record.body, "spec": spec})
