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

LATE_SHARE = 1.5
"""A probe that took so many times its timeout says that this process was late, not the host."""

ALIVE_ERRNOS = frozenset({errno.ECONNREFUSED, errno.ECONNRESET})
"""Errors of a connection that only a living host can cause."""

UNREACHABLE_ERRNOS = frozenset(
    {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT}
)
"""Errors of a connection to a host that does not answer. All others are our own: no files left,
no memory, no route out of a sandbox."""


@dataclass(frozen=True, slots=True)
class KubeletAddress:
    """Where a kubelet listens."""

    host: str
    port: int


class Prober(Protocol):
    """Knocks at doors."""

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether a host answers there, in whatever way; None where it could not be asked."""


@dataclass(frozen=True, slots=True)
class TcpProber:
    """Opens a connection, and closes it at once. Waits for `timeout_seconds` at most."""

    timeout_seconds: float = PROBE_TIMEOUT_SECONDS

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether a host answers there, in whatever way; None where it could not be asked."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self.timeout_seconds):
                _, writer = await asyncio.open_connection(door.host, door.port)
        except TimeoutError as error:
            late = loop.time() - began > LATE_SHARE * self.timeout_seconds
            # The kernel's own ETIMEDOUT is a TimeoutError too.
            return None if late and error.errno is None else False
        except OSError as error:
            if error.errno in ALIVE_ERRNOS:
                return True
            return False if error.errno in UNREACHABLE_ERRNOS else None
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
