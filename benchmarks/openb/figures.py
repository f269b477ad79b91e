"""From runs to columns, and whether the goal is met."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from benchmarks.openb.replay import Outcome

HEADER = (
    "policy", "allocated %", "least – most", "published", "at 100 % arrived", "refused",
    "of them without GPUs", "breaches", "unproven solves", "seconds",
)  # fmt: skip
PUBLISHED = {"Random": 87.47, "BestFit": 93.08, "FGD": 95.39}
"""Per cent of the GPUs allocated at 130 % for the default trace (Weng et al., ATC 2023)."""
GOAL = 95.4
"""Per cent of the GPUs that ours is to reach."""
NEAR = 0.5
"""Percentage points within which a baseline of ours counts as theirs."""


def mean_allocated(name: str, outcomes: Sequence[Outcome]) -> float:
    """Per cent of the GPUs, over the seeds."""
    return 100 * fmean(one.allocated for one in outcomes if one.policy == name)


def columns(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    """The columns of `HEADER` for one policy."""
    runs = [one for one in outcomes if one.policy == name]
    shares = [100 * one.allocated for one in runs]
    return [
        name,
        f"{fmean(shares):.2f}",
        f"{min(shares):.2f} – {max(shares):.2f}",
        f"{PUBLISHED[name]:.2f}" if name in PUBLISHED else "–",
        f"{100 * fmean(one.at_full for one in runs):.2f}",
        f"{fmean(one.refused for one in runs):.0f}",
        f"{fmean(one.bare for one in runs):g}",
        str(sum(one.breaches for one in runs)),
        str(sum(one.unproven for one in runs)),
        f"{fmean(one.seconds for one in runs):.0f}",
    ]


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Whether ours reaches the goal, and how near the baselines come to what is published."""
    lines = []
    for name in dict.fromkeys(one.policy for one in outcomes):
        reached = mean_allocated(name, outcomes)
        if name.startswith("ours"):
            met = "yes" if round(reached, 2) >= GOAL else "no"
            lines.append(f"- {name}: goal {GOAL} %: {met}")
        elif name in PUBLISHED:
            away = reached - PUBLISHED[name]
            near = "as published" if abs(away) <= NEAR else "not as published"
            lines.append(f"- {name}: {away:+.2f} points from what is published, {near}")
    return "\n".join(lines)
