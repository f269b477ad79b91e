"""Watch after watch, each from where the last one stopped."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Gone, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import WatchEvent
from fourleaf.k8s_bridge.informers.resource_version import NewestVersion, version_of
from fourleaf.k8s_bridge.informers.timeouts import WatchContext
from fourleaf.k8s_bridge.informers.watchdog import Watchdog


async def follow(
    context: WatchContext, kind: Kind, seen: NewestVersion
) -> AsyncGenerator[WatchEvent]:
    """All events after `seen`, which moves on with them, without bookmarks; never ends.

    Raises what watching again does not help against: `Gone`, `NotFound`, `Refused`.
    """
    behind_since: float | None = None
    while True:
        started = context.clock.monotonic()
        try:
            async with aclosing(stream(context, kind, seen.version)) as events:
                async for event in events:
                    is_news = _is_news(context, kind, seen, event)
                    behind_since = _behind_since(context, kind, seen, behind_since)
                    if is_news:
                        yield event
            ended: Exception | None = None
        except (Gone, NotFound, Refused):
            raise
        except (ClusterError, TimeoutError) as error:
            ended = error
        if context.clock.monotonic() - started >= context.timeouts.steady_after:
            context.backoff.reset()
        if ended is None:
            await context.backoff.wait()
        else:
            await context.retry(ended)
        context.pulse.restarted()


def _is_news(context: WatchContext, kind: Kind, seen: NewestVersion, event: WatchEvent) -> bool:
    if event.type == "OPENED":
        context.pulse.opened(context.timeouts.steady_after)
        return False
    bookmark = event.type == "BOOKMARK"
    context.pulse.heard(event=not bookmark)
    # an older one is sent by a server that lags behind the one before it
    if not seen.take(version_of(kind, event.object)) or bookmark:
        return False
    context.backoff.reset()
    return True


def _behind_since(
    context: WatchContext, kind: Kind, seen: NewestVersion, since: float | None
) -> float | None:
    """Since when all that comes is older than what was seen; None where it is not.

    A server that lags behind another catches up; one that was restored from a backup does not for
    long, and says nothing of it to a watch. Raises `Gone` then, so that a list finds out.
    """
    if not seen.is_behind:
        return None
    now = context.clock.monotonic()
    since = now if since is None else since
    if now - since >= context.timeouts.behind_for:
        raise Gone(
            f"{kind.plural}: watch: for {now - since:.0f} s all that came was older than version "
            f"{seen.version}, which was seen already"
        )
    return since


async def stream(context: WatchContext, kind: Kind, version: int) -> AsyncGenerator[WatchEvent]:
    """The events of one watch, bookmarks included, until the server ends it.

    Raises `ClusterError`, and `TimeoutError` where it is silent for `stall_after` seconds.
    """
    selection = context.selection
    events = context.cluster.watch(
        kind, str(version), selection.namespace, selection.labels, selection.fields
    )
    try:
        async with Watchdog(context.clock, context.timeouts.stall_after) as watchdog:
            while (event := await watchdog.wait(anext(events, None))) is not None:
                yield event
    except TimeoutError as error:
        silence = f"{kind.plural}: watch: silent for {context.timeouts.stall_after:g} s"
        raise TimeoutError(silence) from error
    finally:
        context.pulse.closed()
        if isinstance(events, AsyncGenerator):
            await events.aclose()
