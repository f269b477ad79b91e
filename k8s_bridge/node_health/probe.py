"""Probe, the second sign: whether the host of a node answers at the port of its kubelet.

Any answer will do. A host that refuses the connection is alive, and so may be its pods,
whatever has become of the kubelet.
"""

from __future__ import annotations

import asyncio
import errno
from dataclasses import dataclass
from typing import Protocol

from fourleaf.k8s_bridge.cluster.protocol import Body

KUBELET_PORT = 10250
PROBE_TIMEOUT_SECONDS = 1.0
"""Seconds that a host may take to answer."""

ALIVE_ERRNOS = frozenset({errno.ECONNREFUSED, errno.ECONNRESET})
"""Errors of a connection that only a living host can cause."""


@dataclass(frozen=True, slots=True)
class KubeletAddress:
    """Where a kubelet listens."""

    host: str
    port: int


class Prober(Protocol):
    """Knocks at doors."""

    async def answers(self, door: KubeletAddress) -> bool:
        """Whether a host answers there, in whatever way."""


@dataclass(frozen=True, slots=True)
class TcpProber:
    """Opens a connection, and closes it at once. Waits for `patience` seconds at most."""

    timeout_seconds: float = PROBE_TIMEOUT_SECONDS

    async def answers(self, door: KubeletAddress) -> bool:
        """Whether a host answers there, in whatever way."""
        try:
            async with asyncio.timeout(self.timeout_seconds):
                _, writer = await asyncio.open_connection(door.host, door.port)
        except TimeoutError:
            return False
        except OSError as error:
            return error.errno in ALIVE_ERRNOS
        writer.close()
        return True


def kubelet_address(node: Body) -> KubeletAddress | None:
    """Where the kubelet of a Node object listens, None where the object does not say."""
    status = node.get("status") or {}
    for kind in ("InternalIP", "Hostname"):
        for address in status.get("addresses") or ():
            if address.get("type") == kind and address.get("address"):
                endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
                return KubeletAddress(address["address"], endpoint.get("Port") or KUBELET_PORT)
    return None
