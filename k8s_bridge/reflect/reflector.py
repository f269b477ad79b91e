"""Outermost: one subject, served or not, in whichever version."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog

from fourleaf.k8s_bridge.backoff import Backoff
from fourleaf.k8s_bridge.chance import chance as source
from fourleaf.k8s_bridge.clock import Clock
from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.reflect.changes import Absent, Change
from fourleaf.k8s_bridge.reflect.context import Context
from fourleaf.k8s_bridge.reflect.health import Pulse
from fourleaf.k8s_bridge.reflect.mirror import mirror
from fourleaf.k8s_bridge.reflect.patience import Patience
from fourleaf.k8s_bridge.reflect.subject import Subject, subject_of
from fourleaf.k8s_bridge.reflect.versions import Seen


async def reflect(
    cluster: Cluster,
    what: Kind | Subject,
    clock: Clock,
    *,
    patience: Patience | None = None,
    pulse: Pulse | None = None,
    chance: random.Random | None = None,
) -> AsyncGenerator[Change]:
    """All changes to `what`, from a first `Replaced` or `Absent` on; never ends by itself.

    Read it inside `contextlib.aclosing`, so that its connection is closed with it. `pulse`
    gets to know how it does; `chance` spreads the waits. Raises no `ClusterError`.
    """
    subject = subject_of(what)
    patience = patience or Patience()
    chance = chance or source()
    context = Context(
        cluster,
        subject,
        clock,
        patience,
        pulse or Pulse(subject.kind, clock),
        Backoff(clock, patience.first_retry, patience.longest_retry, chance),
        chance,
    )
    log = structlog.get_logger(__name__).bind(kind=subject.kind.plural, group=subject.kind.group)
    seen: defaultdict[Kind, Seen] = defaultdict(Seen)
    absent = False
    while True:
        served = False
        for kind in subject.kinds:
            try:
                async with aclosing(mirror(context, kind, seen[kind])) as changes:
                    async for change in changes:
                        served, absent = True, False
                        yield change
            except NotFound as error:
                lost = error
        if served:
            await context.retry(lost)
            continue
        context.pulse.absent()
        if not absent:
            log.info("not served")
            absent = True
            yield Absent()
        await context.pause(patience.absent_again)
