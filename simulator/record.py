"""What a replay writes down: one line for each gang, samples in time, and counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fourleaf.simulator.gpu_seconds import GpuSeconds

NEVER = -1
"""The start or end of what has not started or ended."""


@dataclass(slots=True)
class GangRecord:
    """One gang. Times in seconds from the start of the trace.

    `start` is its first. `leaves` are those that it stood on last, `fewest` the fewest that any
    gang of its shape needs on the empty fabric; `crossing` of its `nodes` ring hops went from
    leaf to leaf. `lost` is the work that it had to do again, in GPU-milliseconds, `stalled`
    what it held without working. A `resident` ran before the replay began, and has no wait.
    `slowdown` is how long a step took, of one on full bandwidth, as a mean over the `ran`
    milliseconds of work. `again` are the GPU-seconds that it waited after failures.
    """

    name: str
    gpus: int
    nodes: int
    arrival: int
    duration: int
    start: int = NEVER
    end: int = NEVER
    leaves: int = 0
    fewest: int = 0
    crossing: int = 0
    restarts: int = 0
    moves: int = 0
    lost: int = 0
    stalled: int = 0
    resident: bool = False
    ran: int = 0
    slowdown: float = 1.0
    again: int = 0

    def worked(self, ran: int, slowed: float) -> None:
        """Add `ran` milliseconds, which count as `slowed` with their slowdowns as weights."""
        if ran:
            self.slowdown = (self.slowdown * self.ran + slowed) / (self.ran + ran)
            self.ran += ran


@dataclass(frozen=True, slots=True)
class Sample:
    """The state at one moment: GPUs, the queue, and whole free leaves, pairs and quads."""

    at: int
    used: int
    failed: int
    free: int
    waiting: int
    waiting_gpus: int
    leaves: int
    pairs: int
    quads: int


@dataclass(slots=True)
class ReplayCounts:
    """What happened how often. `breaches` by law. `unproven` and `greedy` are cycles.

    `hit` gangs lost members, of which `kept` went on, and the rest waited again.
    """

    cycles: int = 0
    unproven: int = 0
    greedy: int = 0
    breaches: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    failures: int = 0
    hit: int = 0
    kept: int = 0
    moves: int = 0
    reservations: int = 0
    backfilled: int = 0


@dataclass(slots=True)
class ReplayRecord:
    """All that is known of one replay. `close` is when the last job arrived, `end` the end.

    `recovery` is what gangs got that lost a node, "" where none could; `shared`: the
    place of a gang decides how fast it is.
    """

    policy: str
    trace: str
    source: str
    seed: int
    gpus: int
    close: int
    end: int = 0
    at_close: GpuSeconds = field(default_factory=GpuSeconds)
    at_end: GpuSeconds = field(default_factory=GpuSeconds)
    counts: ReplayCounts = field(default_factory=ReplayCounts)
    gangs: dict[str, GangRecord] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    recovery: str = ""
    shared: bool = False
