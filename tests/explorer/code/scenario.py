"""What the two leaders set out to do, and the bounds of what may get in their way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Fence whoever led before, and lay out the pages."""


@dataclass(frozen=True, slots=True)
class Place:
    """Commit a gang on these nodes, one pod each, where the pods wait and the nodes are free."""

    gang: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """Work until no commit wants anything."""


@dataclass(frozen=True, slots=True)
class Dies:
    """From now on the leader holds these nodes, and no others, for dead."""

    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Keep:
    """Sweep, then go on working whenever something has changed, for ever."""


Act = TakeOver | Place | Rest | Dies | Keep


@dataclass(frozen=True, slots=True)
class Scenario:
    """`old` leads when it begins, with fresh records; `new` does not lead yet.

    `gangs` are submitted before, of so many pods each. With `replaced`, its owner deletes that
    pod at any moment and creates it anew. Where the format is `raised`, `new` writes the newer one.
    """

    name: str
    gangs: Mapping[str, int]
    old: tuple[Act, ...]
    new: tuple[Act, ...]
    replaced: str = ""
    raised: bool = False
    why: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many requests may meet a fault, and how often a leader may be interrupted by another.

    `preemptions` counts the times at which one leader goes on although another, which went
    last, could have gone on; None sets no bound.
    """

    faults: int = 1
    preemptions: int | None = None

    def __str__(self) -> str:
        switches = "any number of" if self.preemptions is None else f"at most {self.preemptions}"
        return (
            f"bounds: at most {self.faults} faulty requests, {switches} interruptions, "
            "a crash of everybody at any moment"
        )
