"""Reflector: all changes to one kind, served or not, in whichever version; it never ends."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fourleaf.k8s_bridge.cluster.errors import Gone, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.informers.changes import Absent, Change, Put, Removed, Replaced
from fourleaf.k8s_bridge.informers.health import Pulse
from fourleaf.k8s_bridge.informers.lists import list_anew
from fourleaf.k8s_bridge.informers.resource_version import NewestVersion
from fourleaf.k8s_bridge.informers.selection import Selection, selection_of
from fourleaf.k8s_bridge.informers.timeouts import Timeouts, WatchContext
from fourleaf.k8s_bridge.informers.watch import follow
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.randomness import chance as source


async def reflect(
    cluster: Cluster,
    what: Kind | Selection,
    clock: Clock,
    *,
    timeouts: Timeouts | None = None,
    pulse: Pulse | None = None,
    chance: random.Random | None = None,
) -> AsyncGenerator[Change]:
    """All changes to `what`, from a first `Replaced` or `Absent` on; never ends by itself.

    Read it inside `contextlib.aclosing`, so that its connection is closed with it. `pulse`
    gets to know how it does; `chance` spreads the waits. Raises no `ClusterError`.
    """
    selection = selection_of(what)
    timeouts = timeouts or Timeouts()
    chance = chance or source()
    context = WatchContext(
        cluster,
        selection,
        clock,
        timeouts,
        pulse or Pulse(selection.kind, clock),
        Backoff(clock, timeouts.first_retry, timeouts.longest_retry, chance),
        chance,
    )
    import structlog

    log = structlog.get_logger(__name__).bind(
        kind=selection.kind.plural, group=selection.kind.group
    )
    seen: defaultdict[Kind, NewestVersion] = defaultdict(NewestVersion)
    absent = False
    while True:
        served = False
        for kind in selection.kinds:
            try:
                async with aclosing(mirror(context, kind, seen[kind])) as changes:
                    async for change in changes:
                        served, absent = True, False
                        yield change
            except NotFound as error:
                lost = error
        # What stands between may answer so for all kinds, such as a proxy without a backend.
        if served or selection.kind.is_always_served:
            await context.retry(lost)
            continue
        context.pulse.absent()
        if not absent:
            # What is absent from the start is logged by the scheduler, for all kinds in one line.
            known = any(one.version for one in seen.values())
            (log.info if known else log.debug)("kind_not_served")
            absent = True
            yield Absent()
        await context.pause(timeouts.absent_again)


FORBIDDEN = 403
"""The status of what only a person can allow, unless the server has just started."""


async def mirror(
    context: WatchContext, kind: Kind, seen: NewestVersion
) -> AsyncGenerator[Replaced | Put | Removed]:
    """The objects of one kind, for as long as the cluster serves it. Raises `NotFound`.

    What the server refuses is logged once, and asked for again ever more rarely.
    """
    import structlog

    log = structlog.get_logger(__name__).bind(kind=kind.plural, group=kind.group)
    cached, complaint, forbidden = context.selection.cached, "", context.timeouts.refused_first
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
            if context.clock.monotonic() - followed >= context.timeouts.steady_after:
                forbidden = context.timeouts.refused_first
            if error.status == FORBIDDEN:
                await context.pause(forbidden)
                forbidden = min(2 * forbidden, context.timeouts.refused_again)
            else:
                # a token that is being renewed, or a version that only a list can replace
                await context.backoff.wait()
        # what a cache has at hand may be as old as what has just failed
        cached = False


async def _all(context: WatchContext, kind: Kind, seen: NewestVersion, cached: bool) -> Replaced:
    listing = await list_anew(context, kind, seen, cached)
    context.pulse.listed()
    return Replaced(listing.items, listing.version, kind)
