"""Watch after watch, each from where the last one stopped."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Gone, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Event
from fourleaf.k8s_bridge.reflect.context import Context
from fourleaf.k8s_bridge.reflect.stream import stream
from fourleaf.k8s_bridge.reflect.versions import Seen, version_of


async def follow(context: Context, kind: Kind, seen: Seen) -> AsyncGenerator[Event]:
    """All events after `seen`, which moves on with them, without bookmarks; never ends.

    Raises what watching again does not help against: `Gone`, `NotFound`, `Refused`.
    """
    while True:
        started = context.clock.monotonic()
        try:
            async with aclosing(stream(context, kind, seen.version)) as events:
                async for event in events:
                    if _is_news(context, kind, seen, event):
                        yield event
            ended: Exception | None = None
        except (Gone, NotFound, Refused):
            raise
        except (ClusterError, TimeoutError) as error:
            ended = error
        if context.clock.monotonic() - started >= context.patience.steady_after:
            context.backoff.reset()
        if ended is None:
            await context.backoff.wait()
        else:
            await context.retry(ended)
        context.pulse.restarted()


def _is_news(context: Context, kind: Kind, seen: Seen, event: Event) -> bool:
    bookmark = event.type == "BOOKMARK"
    context.pulse.heard(event=not bookmark)
    # an older one is sent by a server that lags behind the one before it
    if not seen.take(version_of(kind, event.object)) or bookmark:
        return False
    context.backoff.reset()
    return True
