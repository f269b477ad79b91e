"""From runs to columns, and whether the goal is met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from benchmarks.openb.replay import Outcome
from benchmarks.results import markdown

HEADER = (
    "policy", "allocated %", "least – most", "published", "at 100 % arrived", "refused",
    "of them without GPUs", "breaches", "unproven solves", "seconds",
)  # fmt: skip
PUBLISHED = {
    "Random": 87.47,
    "DotProd": 90.85,
    "GpuClustering": 91.88,
    "GpuPacking": 92.00,
    "BestFit": 93.08,
    "FGD": 95.39,
}
"""Per cent of the GPUs allocated at 130 % for the default trace (Weng et al., ATC 2023)."""
SOURCE = """*Published* is FGD's own table for this trace (Weng et al., ATC 2023): per cent \
allocated at 130 %. A policy that has this figure alone was not run here."""
NOTHING = "–"
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
        f"{PUBLISHED[name]:.2f}" if name in PUBLISHED else NOTHING,
        f"{100 * fmean(one.at_full for one in runs):.2f}",
        f"{fmean(one.refused for one in runs):.0f}",
        f"{fmean(one.bare for one in runs):g}",
        str(sum(one.breaches for one in runs)),
        str(sum(one.unproven for one in runs)),
        f"{fmean(one.seconds for one in runs):.0f}",
    ]


def table(measured: Mapping[str, list[str]]) -> str:
    """The columns by policy as a table, in which all that is published has a row."""
    rows = [measured.get(name) or _published(name) for name in PUBLISHED]
    rows += [row for name, row in measured.items() if name not in PUBLISHED]
    return f"{markdown(list(HEADER), rows)}\n\n{SOURCE}"


def renewed(body: str) -> str:
    """A section whose measured rows stay, with the published ones as they are known now.

    Raises `LookupError` where its table has other columns.
    """
    lines = body.replace(f"\n\n{SOURCE}", "").splitlines()
    head = markdown(list(HEADER), []).splitlines()
    if head[0] not in lines:
        raise LookupError("the table has other columns; run the benchmark")
    first = last = lines.index(head[0])
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    rows = [line.strip("| ").split(" | ") for line in lines[first + len(head) : last]]
    measured = {row[0]: row for row in rows if row[1] != NOTHING}
    return "\n".join([*lines[:first], table(measured), *lines[last:]])


def _published(name: str) -> list[str]:
    known = {"policy": name, "published": f"{PUBLISHED[name]:.2f}"}
    return [known.get(column, NOTHING) for column in HEADER]


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
