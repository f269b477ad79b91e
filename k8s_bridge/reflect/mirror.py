"""A list and what comes after it, and another list where the thread is lost."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog

from fourleaf.k8s_bridge.cluster.errors import Gone, Refused
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.reflect.changes import Put, Removed, Replaced
from fourleaf.k8s_bridge.reflect.context import Context
from fourleaf.k8s_bridge.reflect.follow import follow
from fourleaf.k8s_bridge.reflect.lists import list_anew
from fourleaf.k8s_bridge.reflect.versions import Seen

FORBIDDEN = 403
"""The status of what only a person can allow, unless the server has just started."""


async def mirror(
    context: Context, kind: Kind, seen: Seen
) -> AsyncGenerator[Replaced | Put | Removed]:
    """The objects of one kind, for as long as the cluster serves it. Raises `NotFound`.

    What the server refuses is logged once, and asked for again ever more rarely.
    """
    log = structlog.get_logger(__name__).bind(kind=kind.plural, group=kind.group)
    cached, complaint, forbidden = context.subject.cached, "", context.patience.refused_first
    while True:
        context.pulse.listing(kind)
        followed = math.inf
        try:
            # kept in no variable, which would hold on to objects long after they are gone
            yield await _all(context, kind, seen, cached)
            followed = context.clock.monotonic()
            async with aclosing(follow(context, kind, seen)) as events:
                async for event in events:
                    complaint = ""
                    gone = event.type == "DELETED"
                    yield Removed(event.object) if gone else Put(event.object)
        except Gone as error:
            await context.retry(error)
        except Refused as error:
            if str(error) != complaint:
                complaint = str(error)
                log.warning("refused", why=complaint, advice="check the account's ClusterRole")
            context.pulse.refused(error)
            if context.clock.monotonic() - followed >= context.patience.steady_after:
                forbidden = context.patience.refused_first
            if error.status == FORBIDDEN:
                await context.pause(forbidden)
                forbidden = min(2 * forbidden, context.patience.refused_again)
            else:
                # a token that is being renewed, or a version that only a list can replace
                await context.backoff.wait()
        # what a cache has at hand may be as old as what has just failed
        cached = False


async def _all(context: Context, kind: Kind, seen: Seen, cached: bool) -> Replaced:
    listing = await list_anew(context, kind, seen, cached)
    context.pulse.listed()
    return Replaced(listing.items, listing.version, kind)
