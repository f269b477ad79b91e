"""The replay: a trace in virtual time on a fabric, under one policy.

The same trace, fabric and options give the same record, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing

from fourleaf.model.fabric import Fabric
from fourleaf.model.free_leaves import free_room
from fourleaf.simulator import conservation
from fourleaf.simulator.cycle import cycle
from fourleaf.simulator.defragmentation import defragment
from fourleaf.simulator.events import EventKind
from fourleaf.simulator.node_failures import Outage, outages
from fourleaf.simulator.options import ReplayOptions, need_rule
from fourleaf.simulator.policies.catalogue import policy as policy_of
from fourleaf.simulator.policies.cpsat import CpSatPolicy
from fourleaf.simulator.policies.protocol import Policy
from fourleaf.simulator.record import ReplayRecord, Sample
from fourleaf.simulator.recovery.protocol import Rescuer
from fourleaf.simulator.recovery.steps import fail, rescuer
from fourleaf.simulator.trace import Trace
from fourleaf.simulator.world import ReplayState

MOST_SAMPLES = 300
"""Samples of one replay, from the first to the last arrival."""

Listen = Callable[[int, int], None]
"""Hears of progress: seconds of virtual time, and those until the last arrival."""


def _no_observer(_: int, __: int) -> None:
    """What hears of progress where no caller wants to."""


def replay(
    trace: Trace, fabric: Fabric, options: ReplayOptions, on_time: Listen = _no_observer
) -> ReplayRecord:
    """Replay `trace` from its first arrival until its last gang has ended.

    Raises `NotConserved` where the books of GPU-seconds do not add up, and `NoRule` for options
    that do not go together.
    """
    need_rule(options)
    with ExitStack() as open_ones:
        policy = open_ones.enter_context(closing(policy_of(options.policy, options.seed)))
        solver = policy if isinstance(policy, CpSatPolicy) else None
        if solver is None and options.solves:
            solver = open_ones.enter_context(closing(CpSatPolicy()))
        failures = options.failures
        ways = rescuer(failures.recovery, policy, solver) if failures.rate else None
        world = ReplayState.of(trace, fabric, options)
        _schedule(world, trace)
        _run(world, policy, solver, ways, on_time)
        return _closed(world)


def _schedule(world: ReplayState, trace: Trace) -> None:
    """Put everything into the queue that is known from the start."""
    options, close = world.options, trace.span
    for resident in trace.residents:
        world.settle(resident)
    for job in trace.jobs:
        world.queue.add(job.arrival, EventKind.ARRIVE, job)
    failures = options.failures
    for outage in outages(
        list(world.cluster.capacity), failures.rate, failures.outage, close, options.seed
    ):
        world.queue.add(outage.at, EventKind.FAIL, outage)
    for number in range(MOST_SAMPLES + 1):
        world.queue.add(close * number // MOST_SAMPLES, EventKind.SAMPLE)
    if options.defragmentation.every:
        for at in range(options.defragmentation.every, close, options.defragmentation.every):
            world.queue.add(at, EventKind.DEFRAGMENT)
    world.queue.add(close, EventKind.CLOSE)


def _run(
    world: ReplayState,
    policy: Policy,
    solver: CpSatPolicy | None,
    ways: Rescuer | None,
    on_time: Listen,
) -> None:
    while world.queue:
        event = world.queue.pop()
        world.now = event.at
        match event.kind:
            case EventKind.END:
                one, version = event.what
                if one.version == version:
                    world.end(one.gang.key)
            case EventKind.RETURN:
                world.cluster.restore(event.what, world.now)
                world.freed()
            case EventKind.FAIL:
                _fail(world, event.what, ways)
            case EventKind.ARRIVE:
                world.submit(event.what)
            case EventKind.DEFRAGMENT if solver is not None:
                defragment(world, solver)
            case EventKind.CYCLE:
                cycle(world, policy)
            case EventKind.SAMPLE:
                _sample(world)
                on_time(world.now, world.record.close)
            case EventKind.CLOSE:
                world.cluster.books.advance(world.now)
                world.record.at_close = world.cluster.books.totals


def _fail(world: ReplayState, outage: Outage, ways: Rescuer | None) -> None:
    if ways is not None and fail(world, outage, ways):
        world.queue.add(outage.at + outage.seconds, EventKind.RETURN, outage.node)


def _sample(world: ReplayState) -> None:
    books = world.cluster.books
    room = free_room(world.cluster.snapshot((), world.options.config, world.now))
    world.record.samples.append(
        Sample(
            world.now,
            books.used,
            books.failed,
            books.free,
            len(world.waiting),
            sum(entry.job.size for entry in world.waiting.values()),
            room.leaves,
            room.pairs,
            room.quads,
        )
    )


def _closed(world: ReplayState) -> ReplayRecord:
    """Close the books, and check them against the journal."""
    cluster, record = world.cluster, world.record
    cluster.books.advance(world.now)
    cluster.journal.close(world.now)
    for entry in world.waiting.values():
        world.note_wait(entry)
    record.end, record.at_end = world.now, cluster.books.totals
    conservation.check(cluster.capacity, cluster.journal.stretches, world.now, cluster.books.totals)
    return record
