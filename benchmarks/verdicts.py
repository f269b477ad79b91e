"""What is claimed, and how to read figure, goal and verdict of it in the tables.

Nothing on the first page of the results is typed by hand but the claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.read_tables import Tables
from benchmarks.recovery.goal import GOAL_SECONDS


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, the benchmark that judges it, and how to read figure, goal and verdict there.

    Without a goal a figure is shown for what it is.
    """

    claim: str
    benchmark: str
    figure: Callable[[Tables], str]
    goal: Callable[[Tables], str] = lambda _: "–"
    met: Callable[[Tables], str] = lambda _: "–"


def _goals(*row: str) -> tuple[Callable[[Tables], str], Callable[[Tables], str]]:
    """Goals and verdict of a row that has all of them in one cell."""

    def goal(one: Tables) -> str:
        return re.sub(r": (yes|no)", "", one.cell("goals", *row))

    return goal, lambda one: "no" if ": no" in one.cell("goals", *row) else "yes"


def _met(goal: str, *row: str) -> tuple[Callable[[Tables], str], Callable[[Tables], str]]:
    """Goal and verdict of a row with a column for each."""
    return lambda one: one.cell(goal, *row), lambda one: one.cell("met", *row)


def _all(column: str) -> Callable[[Tables], str]:
    def met(one: Tables) -> str:
        yes, rows = one.count(column, "yes")
        return "yes" if yes == rows else "no"

    return met


def _all_at_most(column: str, goal: float) -> Callable[[Tables], str]:
    """Whether no row has more than the goal, "no" where none has such a cell."""

    def met(one: Tables) -> str:
        cells = [float(row[column]) for row in one.rows() if row.get(column)]
        return "yes" if cells and all(cell <= goal for cell in cells) else "no"

    return met


SMALL, LARGE = "1000 nodes, 100 gangs", "10,000 nodes, 1000 gangs"
BELOW = "40 of 1000, 90 % full, some below a node"
VERDICTS = (
    Verdict(
        "a batch of 100 gangs on 1000 nodes is decided and proven, ms p50 / p95 / p99 / max",
        "solve", lambda s: s.cell("both ms", SMALL), *_goals(SMALL),
    ),
    Verdict(
        "1000 gangs on 10,000 nodes, ms p50 / p95 / p99 / max",
        "solve", lambda s: s.cell("both ms", LARGE), *_goals(LARGE),
    ),
    Verdict(
        "`fourleaf plan` on 100 MiB of JSON, s", "plan",
        lambda s: s.cell("median s", "full pods, JSON"), *_met("goal s", "full pods, JSON"),
    ),
    Verdict(
        "pods bound on a real control plane, 1000 nodes: ours beside kube-scheduler, pods/s",
        "throughput",
        lambda s: f"{s.cell('ours', 'pods/s')} beside {s.cell('native', 'pods/s')}",
    ),
    Verdict(
        "from start to the first gang bound, s", "start",
        lambda s: next(s.rows())["median s"],
        lambda s: next(s.rows())["goal s"], lambda s: next(s.rows())["met"],
    ),
    Verdict(
        "100 gangs/s of 1 to 4 whole nodes: bound while they came, gangs/s", "sustained",
        lambda s: s.cell("gangs of 1 to 4 pods of 8 GPUs", "gangs/s bound while they came"),
    ),
    Verdict("half an hour of churn: nothing grows", "churn",
        lambda s: "{} of {} figures flat".format(*s.count("flat", "yes")), met=_all("flat")),
    Verdict(
        "repair of one node of 1000, 90 % full, ms p50 / p95 / p99 / max", "repair",
        lambda s: s.cell("in all ms", "1 of 1000, 90 % full"), *_goals("1 of 1000, 90 % full"),
    ),
    Verdict(
        "repair of 40 of 1000 nodes, some gangs below a node: proven", "repair",
        lambda s: s.cell("proven", BELOW), *_goals(BELOW),
    ),
    Verdict(
        "from the death of all 8 nodes to the gang's next run elsewhere, s p95", "recovery",
        lambda s: s.cell("p95 s", "operator", "elsewhere", "8"),
        lambda _: f"{GOAL_SECONDS:g} in every row", _all_at_most("p95 s", GOAL_SECONDS),
    ),
    Verdict(
        "200 reviews/s by the webhook, ms p99", "webhook",
        lambda s: s.cell("p99 ms", "reviews, 200 creations/s"),
        *_met("goal", "reviews, 200 creations/s"),
    ),
    Verdict(
        "GPUs allocated on openb: ours beside FGD and BestFit, %", "openb",
        lambda s: " beside ".join(
            s.cell("allocated %", one) for one in ("ours, one by one", "FGD", "BestFit")
        ),
        lambda s: s.said(r"ours, one by one: goal ([\d.]+ %)"),
        lambda s: s.said(r"ours, one by one: goal [\d.]+ %: (\w+)"),
    ),
    Verdict(
        "cases where greedy leaves gangs waiting, 32 nodes, 1 s: improved, certified optimal",
        "certify",
        lambda s: ", ".join(
            s.cell(one, "gangs", "32", "greedy", "1") for one in ("improved", "certified optimal")
        ),
    ),
    Verdict(
        "traces: comparisons in which a baseline is ahead of ours", "trace",
        lambda s: s.said(r"ahead of ours in (\d+ of \d+) comparisons"),
    ),
    Verdict(
        "the price of the leaf rule, Kalos at 90 %, mean wait: ours beside spread, which breaks it",
        "trace",
        lambda s: " beside ".join(
            s.cell("wait mean", "kalos", "90 %", one) for one in ("cpsat", "spread")
        ),
    ),
    Verdict(
        "GPU-hours lost on Kalos, 65 failures per 1000 node-days: repair beside whole restart",
        "failures",
        lambda s: " beside ".join(
            s.cell("GPU-hours lost", "kalos", "65", one)
            for one in ("repair, others may move", "whole restart")
        ),
    ),
    Verdict(
        "slowdown at 4:1 oversubscription: ours beside spread, which knows no leaves",
        "communication",
        lambda s: " beside ".join(s.cell("slowdown", "4:1", one) for one in ("cpsat", "spread")),
        lambda s: s.said(r'"(Faster by [^"]+)"'),
        lambda s: "yes" if s.said(r'"Faster by [^"]+": (\w+)') == "met" else "no",
    ),
    Verdict(
        "first paint of the dashboard with 1000 nodes, ms", "dashboard",
        lambda s: s.cell("median", "first paint, ms"), *_met("goal", "first paint, ms"),
    ),
    Verdict(
        "10,000 gangs wait on 5000 nodes and one comes, ms", "queue",
        lambda s: s.cell("ms", "came"), *_met("goal", "came"),
    ),
    Verdict("honest gangs start beside a tenant's load", "tenants",
        lambda s: "{} of {} loads".format(*s.count("met", "yes")), met=_all("met")),
)  # fmt: skip
