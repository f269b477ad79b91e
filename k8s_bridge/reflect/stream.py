"""Innermost: one watch, for as long as it says anything."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Event
from fourleaf.k8s_bridge.reflect.context import Context
from fourleaf.k8s_bridge.reflect.watchdog import Watchdog


async def stream(context: Context, kind: Kind, version: int) -> AsyncGenerator[Event]:
    """The events of one watch, bookmarks included, until the server ends it.

    Raises `ClusterError`, and `TimeoutError` where it is silent for `stall_after` seconds.
    """
    subject = context.subject
    events = context.cluster.watch(
        kind, str(version), subject.namespace, subject.labels, subject.fields
    )
    try:
        async with Watchdog(context.clock, context.patience.stall_after) as watchdog:
            while (event := await watchdog.wait(anext(events, None))) is not None:
                yield event
    except TimeoutError as error:
        silence = f"{kind.plural}: watch: silent for {context.patience.stall_after:g} s"
        raise TimeoutError(silence) from error
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
