"""The whole output for people, against snapshots at 80 columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.cli.render.gangs import BAR_WIDTH, bars
from fourleaf.cli.render.glyphs import ASCII, UNICODE, Glyphs
from fourleaf.cli.render.plan_view import plan_view
from fourleaf.cli.render.proof import proof_line
from fourleaf.model.plan import Plan, PlanStatus
from tests.cli.made import GOLDEN, example, example_plan, text, unproven, within_a_gap


@pytest.mark.parametrize(
    ("name", "glyphs", "wide"),
    [("table", UNICODE, False), ("wide", UNICODE, True), ("ascii", ASCII, False)],
)
def test_view_looks_as_approved(name: str, glyphs: Glyphs, wide: bool) -> None:
    """Every section of a plan that has all of them looks as in the approved file."""
    drawn = text(plan_view(example(), example_plan(), 80, glyphs, wide))
    assert drawn == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_view_stays_within_80_columns() -> None:
    """Nothing is cut off or wrapped by the terminal."""
    drawn = text(plan_view(example(), example_plan(), 80, UNICODE, True), width=200)
    tables = [line for line in drawn.splitlines() if not line.startswith("    unblock")]
    assert max(map(len, tables)) <= 80


def test_a_plan_of_nobody_says_who_would_count() -> None:
    """Where no gang waits, the names that make a pod ours are given: one may be misspelled."""
    nobody = Plan(PlanStatus.OPTIMAL, (), ())
    drawn = text(plan_view(example(), nobody, 80, UNICODE))
    assert "no gang waits: no pod without a node has schedulerName" in drawn
    assert "topology-aware-scheduler or gpu-scheduler" in " ".join(drawn.split())
    assert "no gang waits" not in text(plan_view(example(), example_plan(), 80, UNICODE))


def test_ascii_view_is_ascii() -> None:
    """No character outside of ASCII slips into the fallback."""
    assert text(plan_view(example(), example_plan(), 80, ASCII, True)).isascii()


def test_bars_add_up() -> None:
    """A bar is as long as its score, however its terms are rounded."""
    placement = example_plan().placements[1]
    plan = replace(example_plan(), placements=(placement,))
    bar = bars(example(), plan, ASCII)[0].plain
    filled = sum(bar.count(mark) for mark in ASCII.bars)
    assert filled == round(BAR_WIDTH * placement.score / (32 * 1000))
    assert bar.endswith("0.850")


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        (example_plan(), "proven best: objective 12,345, bound 12,345, 3 stages, 41 ms"),
        (
            unproven(example_plan()),
            "valid, at most 1.97 % from the best: objective 12,345, bound 12,593, 3 stages, 41 ms",
        ),
        (
            within_a_gap(example_plan()),
            "proven within 1.9694 % of the best: objective 12,345, bound 12,593, 3 stages, 41 ms",
        ),
        (
            Plan(PlanStatus.GREEDY, (), seconds_build=1.25, note="out of time"),
            "valid, nothing proven (greedy): objective 0, 0 stages, 1.2 s (out of time)",
        ),
    ],
)
def test_proof_line_says_what_is_known(plan: Plan, line: str) -> None:
    """Proven, bounded and greedy plans are told apart in words."""
    assert proof_line(plan).plain == line
