"""What a run came to, the rows of the table, and whether they meet their goal."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from benchmarks.recovery.goal import GOAL_SECONDS
from benchmarks.recovery.grounds import SIZE, Ground, Site
from benchmarks.throughput.figures import percentile

PATIENCE = 120.0
"""Seconds after which a gang counts as lost."""
STAYS = 30.0
"""Seconds for which a gang that cannot be repaired is watched, once an event has said why."""
WHAT = 3
"""Cells of a row that say what was measured: the owner, the room, the nodes lost."""
HEADER = ["owner", "room", "lost", "run again", "stay", "median s", "p95 s", "worst s"]
HEADER += ["pods new", "legal", "goal s", "met"]


@dataclass(slots=True)
class Run:
    """One gang: where it stood, when its nodes died, when it ran again or was told why it cannot.

    Monotonic seconds, 0 for never. `uids` are those of its first members, `new` of those after.
    """

    site: Site
    lost: int
    before: dict[int, str] = field(default_factory=dict)
    after: dict[int, str] = field(default_factory=dict)
    uids: set[str] = field(default_factory=set)
    new: set[str] = field(default_factory=set)
    died: float = 0.0
    again: float = 0.0
    told: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it took to be as it has to be, without end where it never was."""
        end = self.told if self.site.ground.is_full else self.again
        return end - self.died if end else float("inf")

    @property
    def stays(self) -> bool:
        """Whether it was told why it cannot be repaired, and has its first members still."""
        return bool(self.told) and not self.again and not self.new

    @property
    def good(self) -> bool:
        """Whether it came to what its ground has room for."""
        return self.stays if self.site.ground.is_full else bool(self.again) and legal(self)

    def is_over(self, now: float) -> bool:
        """Whether nothing more is expected of it."""
        if self.again or (self.died and now - self.died > PATIENCE):
            return True
        return self.site.ground.is_full and bool(self.told) and now - self.told > STAYS


def legal(run: Run) -> bool:
    """Whether the gang stands on different nodes of one leaf, or of two adjacent ones."""
    if len(set(run.after.values())) != SIZE:
        return False
    leaves = sorted({run.site.leaf(node) for node in run.after.values()})
    return len(leaves) == 1 or (len(leaves) == 2 and leaves[1] == leaves[0] + 1)


def row(owner: str, ground: Ground, lost: int, runs: list[Run]) -> list[str]:
    """One line of the table."""
    seconds = [run.seconds for run in runs]
    late = percentile(seconds, 0.95)
    back = [run for run in runs if run.again]
    return [
        owner,
        ground.name,
        str(lost),
        f"{len(back)} of {len(runs)}",
        f"{sum(run.stays for run in runs)} of {len(runs)}",
        f"{median(seconds):.1f}",
        f"{late:.1f}",
        f"{max(seconds):.1f}",
        f"{median(len(run.new) for run in runs):.0f}",
        f"{sum(map(legal, back))} of {len(back)}" if back else "-",
        f"{GOAL_SECONDS:g}",
        "yes" if late <= GOAL_SECONDS else "no",
    ]


def found_fault(rows: list[list[str]], bad: list[str]) -> str:
    """Which rows are above the goal and which gangs are not as they have to be; "" where none."""
    above = [", ".join(one[:WHAT]) for one in rows if one[-1] != "yes"]
    found = [f"p95 above {GOAL_SECONDS:g} s: {'; '.join(above)}"] if above else []
    if bad:
        found.append(f"not back, not as they were, or not where they may be: {', '.join(bad)}")
    return "\n".join(found)
