"""From replays on shared uplinks to columns, and one verdict on how much faster ours is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.replays import Outcome
from fourleaf.simulator.measures.tables import duration, percent

HEADER = (
    "oversubscription", "policy", "slowdown", "slowdown, worst gang", "hops between leaves",
    "leaves", "completion mean", "completion p95", "wait mean", "allocation", "breaches",
    "unproven",
)  # fmt: skip
CLAIM = 0.30
"""By how much, of the others' speed, ours is said to be faster at most."""

Key = tuple[int, str]
"""Oversubscription and policy."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Where ours is fastest beside others: `gain` is how many more steps it does in a time."""

    gain: float
    oversubscription: int
    rival: str
    ours: float
    theirs: float


def gathered(outcomes: Sequence[Outcome]) -> dict[Key, Outcome]:
    """The outcomes by oversubscription and policy."""
    return {
        (one.case.options.communication.oversubscription, one.case.options.policy): one
        for one in outcomes
    }


def columns(key: Key, outcome: Outcome) -> list[str]:
    """The columns of `HEADER`."""
    one = outcome.summary
    return [
        f"{key[0]}:1",
        key[1],
        f"{one.slowdown:.3f}",
        f"{one.slowdown_worst:.3f}",
        percent(one.crossing),
        f"{one.leaves:.3f}",
        duration(one.completion_mean),
        duration(one.completion_p95),
        duration(one.wait_mean),
        percent(one.allocation),
        str(one.breaches),
        str(outcome.counts.unproven),
    ]


def leads(found: Mapping[Key, Outcome]) -> list[Lead]:
    """Ours beside every baseline at every oversubscription, the largest gain first."""
    said = []
    for (shared, policy), outcome in found.items():
        ours = found.get((shared, "cpsat"))
        if policy != "cpsat" and ours is not None:
            mine, theirs = ours.summary.slowdown, outcome.summary.slowdown
            said.append(Lead(theirs / mine - 1, shared, policy, mine, theirs))
    return sorted(said, key=lambda one: -one.gain)


def verdict(found: Mapping[Key, Outcome]) -> str:
    """Whether "faster by up to 30 %" is true of these replays, and beside whom."""
    said = leads(found)
    if not said:
        return "Ours and baselines were not replayed side by side: no verdict."
    best = said[0]
    known = [one for one in said if one.rival != "spread"]
    reached = best.gain >= CLAIM
    lines = [
        f'"Faster by up to {CLAIM:.0%}": {"met" if reached else "not met"}. Gangs of two nodes '
        f"and more do at most {best.gain:.1%} more steps in a time under ours: beside "
        f"{best.rival} at {best.oversubscription}:1, {best.ours:.3f} for {best.theirs:.3f}."
    ]
    if known and known[0] is not best:
        one = known[0]
        lines.append(
            f"Beside those that know the leaf rule it is {one.gain:.1%} at most: {one.rival} at "
            f"{one.oversubscription}:1, {one.ours:.3f} for {one.theirs:.3f}."
        )
    behind = [one for one in said if one.gain < 0]
    if behind:
        one = behind[-1]
        lines.append(
            f"Ours is slower in {len(behind)} of {len(said)} comparisons, at most by "
            f"{-one.gain:.1%}: {one.rival} at {one.oversubscription}:1."
        )
    return " ".join(lines)
