"""Events of one gang from a live cluster: a tenant may have written any number, of any size.

The API is asked for those about the gang's pods, a few at a time, and of each no more is kept than
is shown. A page holds what etcd takes for so many objects, and one is read at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from fourleaf.dashboard.sources.history import HappeningView
from fourleaf.dashboard.sources.lease_records import events_of, newest
from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
from fourleaf.k8s_bridge.cluster.kinds import EVENTS
from fourleaf.k8s_bridge.cluster.protocol import PagedCluster
from fourleaf.model.gang import GangKey

PAGE_EVENTS = 20
"""Events that are held at once: 1.5 MiB each at most, which is what etcd takes."""
MOST_EVENTS_READ = 1000
"""Events that are looked at for one gang."""
MOST_PODS_ASKED = 8
"""Pods that the API is asked about one by one; for more, it is asked about all pods there."""
READ_SECONDS = 5.0
"""Seconds after which what has been read has to do."""


class GangEvents:
    """Reads the events of one gang at a time."""

    def __init__(self, cluster: PagedCluster) -> None:
        self._cluster = cluster
        self._one = asyncio.Lock()

    async def of(
        self, gang: GangKey, pods: Sequence[str], unknown: Callable[[str], None]
    ) -> tuple[HappeningView, ...]:
        """What happened to `pods` of `gang`, the newest first; `unknown` hears what is missing."""
        found: tuple[HappeningView, ...] = ()
        left = MOST_EVENTS_READ
        try:
            async with self._one, asyncio.timeout(READ_SECONDS):
                for fields in _selectors(pods):
                    async for page in self._cluster.pages(
                        EVENTS, gang.namespace, PAGE_EVENTS, fields
                    ):
                        found = newest((*found, *events_of(gang, pods, page)))
                        left -= len(page)
                        if left <= 0:
                            unknown(f"events beyond {MOST_EVENTS_READ:,} of its namespace")
                            return found
        except TimeoutError:
            unknown(f"events: not all came within {READ_SECONDS:g} s")
        except NotFound:
            return ()
        except ClusterError as error:
            unknown(f"events: {error}")
        return found


def _selectors(pods: Sequence[str]) -> list[str]:
    if len(pods) > MOST_PODS_ASKED:
        return ["regarding.kind=Pod"]
    return [f"regarding.kind=Pod,regarding.name={name}" for name in pods]
