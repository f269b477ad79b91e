"""Lists that never take a reflection back in time."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Gone, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Listing
from fourleaf.k8s_bridge.informers.resource_version import NewestVersion, number
from fourleaf.k8s_bridge.informers.timeouts import WatchContext
from fourleaf.k8s_bridge.informers.watchdog import Watchdog


async def list_anew(
    context: WatchContext, kind: Kind, seen: NewestVersion, cached: bool
) -> Listing:
    """A list as new as `seen`, which moves on to it; asks until there is one.

    With `cached`, no quorum read is made until an answer is too old. Raises `NotFound`,
    `Refused`.
    """
    while True:
        try:
            listing = await _list(context, kind, cached)
            version = number(kind, listing.version)
            if seen.take(version):
                return listing
            context.pulse.outdated()
            cached = False
            raise ClusterError(
                f"{kind.plural}: list: version {version} is older than {seen.version}, which was "
                "seen already; if the cluster was restored from a backup, restart the scheduler"
            )
        except Gone as error:
            await context.retry(error)
        except (NotFound, Refused):
            raise
        except (ClusterError, TimeoutError) as error:
            await context.retry(error)


async def _list(context: WatchContext, kind: Kind, cached: bool) -> Listing:
    selection, most = context.selection, context.timeouts.list_within
    async with Watchdog(context.clock, most) as watchdog:
        listing = context.cluster.list(
            kind, selection.namespace, selection.labels, cached, selection.fields
        )
        try:
            return await watchdog.wait(listing)
        except TimeoutError as error:
            raise TimeoutError(f"{kind.plural}: list: no answer within {most:g} s") from error
