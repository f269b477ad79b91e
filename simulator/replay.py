"""The replay: a trace in virtual time on a fabric, under one policy.

The same trace, fabric and options give the same record, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing

from fourleaf.model.fabric import Fabric
from fourleaf.model.free_room import free_room
from fourleaf.simulator import conservation
from fourleaf.simulator.cycle import cycle
from fourleaf.simulator.events import Kind
from fourleaf.simulator.failing import Outage, outages
from fourleaf.simulator.options import Options, need_rule
from fourleaf.simulator.policies.catalogue import policy as policy_of
from fourleaf.simulator.policies.cpsat import CpSat
from fourleaf.simulator.policies.protocol import Policy
from fourleaf.simulator.record import Record, Sample
from fourleaf.simulator.recovery.handling import fail, rescuer
from fourleaf.simulator.recovery.protocol import Rescuer
from fourleaf.simulator.relocating import defragment
from fourleaf.simulator.trace import Trace
from fourleaf.simulator.world import World

SAMPLES = 300
"""Samples of one replay, from the first to the last arrival."""

Listen = Callable[[int, int], None]
"""Hears of progress: seconds of virtual time, and those until the last arrival."""


def _unheard(_: int, __: int) -> None:
    """Nobody listens."""


def replay(trace: Trace, fabric: Fabric, options: Options, on_time: Listen = _unheard) -> Record:
    """Replay `trace` from its first arrival until its last gang has ended.

    Raises `NotConserved` where the books of GPU-seconds do not add up, and `NoRule` for options
    that do not go together.
    """
    need_rule(options)
    with ExitStack() as open_ones:
        policy = open_ones.enter_context(closing(policy_of(options.policy, options.seed)))
        solver = policy if isinstance(policy, CpSat) else None
        if solver is None and options.solves:
            solver = open_ones.enter_context(closing(CpSat()))
        failures = options.failures
        ways = rescuer(failures.recovery, policy, solver) if failures.rate else None
        world = World.of(trace, fabric, options)
        _schedule(world, trace)
        _run(world, policy, solver, ways, on_time)
        return _closed(world)


def _schedule(world: World, trace: Trace) -> None:
    """Put everything into the queue that is known from the start."""
    options, close = world.options, trace.span
    for resident in trace.residents:
        world.settle(resident)
    for job in trace.jobs:
        world.queue.add(job.arrival, Kind.ARRIVE, job)
    failures = options.failures
    for outage in outages(
        list(world.cluster.capacity), failures.rate, failures.outage, close, options.seed
    ):
        world.queue.add(outage.at, Kind.FAIL, outage)
    for number in range(SAMPLES + 1):
        world.queue.add(close * number // SAMPLES, Kind.SAMPLE)
    if options.defragmentation.every:
        for at in range(options.defragmentation.every, close, options.defragmentation.every):
            world.queue.add(at, Kind.DEFRAGMENT)
    world.queue.add(close, Kind.CLOSE)


def _run(
    world: World, policy: Policy, solver: CpSat | None, ways: Rescuer | None, on_time: Listen
) -> None:
    while world.queue:
        event = world.queue.pop()
        world.now = event.at
        match event.kind:
            case Kind.END:
                one, version = event.what
                if one.version == version:
                    world.end(one.gang.key)
            case Kind.RETURN:
                world.cluster.restore(event.what, world.now)
                world.freed()
            case Kind.FAIL:
                _fail(world, event.what, ways)
            case Kind.ARRIVE:
                world.submit(event.what)
            case Kind.DEFRAGMENT if solver is not None:
                defragment(world, solver)
            case Kind.CYCLE:
                cycle(world, policy)
            case Kind.SAMPLE:
                _sample(world)
                on_time(world.now, world.record.close)
            case Kind.CLOSE:
                world.cluster.books.advance(world.now)
                world.record.at_close = world.cluster.books.totals


def _fail(world: World, outage: Outage, ways: Rescuer | None) -> None:
    if ways is not None and fail(world, outage, ways):
        world.queue.add(outage.at + outage.seconds, Kind.RETURN, outage.node)


def _sample(world: World) -> None:
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


def _closed(world: World) -> Record:
    """Close the books, and check them against the journal."""
    cluster, record = world.cluster, world.record
    cluster.books.advance(world.now)
    cluster.journal.close(world.now)
    for entry in world.waiting.values():
        world.note_wait(entry)
    record.end, record.at_end = world.now, cluster.books.totals
    conservation.check(cluster.capacity, cluster.journal.stretches, world.now, cluster.books.totals)
    return record
