"""A gang that runs: where, and how much of its work is left.

Work is counted in milliseconds of an undisturbed run, speed in thousandths of that of one, so
that everything stays a whole number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.model.gang import Gang
from fourleaf.model.resources import Resources
from fourleaf.simulator.trace import Job

FULL = 1000
"""The speed of a gang that nothing holds up."""


@dataclass(slots=True)
class Running:
    """One gang from its start to its end. `pods` are (pod, node) in rank order.

    `left` is the work that was left at `since`, standstill included: `stall` milliseconds of it
    are no work but the time that a restart takes. `version` tells outdated events.
    `ran` are the milliseconds of work so far, `slowed` what they sum up to if each counts as
    often as a step takes longer than at full speed.
    """

    job: Job
    gang: Gang
    pods: tuple[tuple[str, str], ...]
    since: int
    left: int
    stall: int = 0
    speed: int = FULL
    version: int = 0
    ran: int = 0
    slowed: float = 0.0
    requests: dict[str, Resources] = field(init=False)
    """Pod -> what it asks for."""

    def __post_init__(self) -> None:
        self.requests = {pod: role.request for role in self.gang.roles for pod in role.pods}

    def advance(self, now: int) -> None:
        """Do the work of the time since the last call."""
        done = (now - self.since) * FULL
        self.since = now
        still = min(done, self.stall)
        self.stall -= still
        self.left -= still
        self.ran += done - still
        self.slowed += (done - still) * FULL / self.speed
        self.left = max(0, self.left - (done - still) * self.speed // FULL)

    def end(self) -> int:
        """The second in which it is done if its speed stays as it is; `advance` first."""
        work = self.left - self.stall
        milliseconds = self.stall + -(-work * FULL // self.speed)
        return self.since + -(-milliseconds // FULL)

    def fall_back(self, checkpoint: int, stall: int) -> int:
        """Lose the work since the last checkpoint and stand still for `stall` milliseconds.

        There is a checkpoint every `checkpoint` milliseconds of work. Returns the work lost.
        """
        done = self.job.duration * FULL - (self.left - self.stall)
        lost = done % checkpoint
        self.left += lost + stall - self.stall
        self.stall = stall
        return lost
