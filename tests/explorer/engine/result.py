"""What a search came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Breach:
    """A state that must not be: why, and the steps that lead to it."""

    why: str
    trace: tuple[str, ...]

    def __str__(self) -> str:
        steps = "\n".join(f"{number:4d}  {label}" for number, label in enumerate(self.trace, 1))
        return f"{self.why}\n{steps}"


@dataclass(frozen=True, slots=True)
class Result:
    """How much was searched, in how many `seconds` of a processor, and the first breach.

    `ends` are states that nothing follows. `complete` says that no state within the bounds
    was left out.
    """

    states: int
    transitions: int
    ends: int
    seconds: float
    complete: bool
    breach: Breach | None = None

    def __str__(self) -> str:
        scope = "all of them" if self.complete else "NOT all of them"
        return (
            f"{self.states:,} states ({scope}), {self.transitions:,} transitions, "
            f"{self.ends:,} ends, {self.seconds:.1f} s of a processor"
        )
