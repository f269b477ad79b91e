"""From runs to rows of the table of recoveries, and whether these meet their goal."""

from __future__ import annotations

import math

import pytest

from benchmarks.read_tables import Tables
from benchmarks.recovery.figures import HEADER, Run, found_fault, row
from benchmarks.recovery.grounds import GROUNDS
from benchmarks.results import markdown
from benchmarks.verdicts import VERDICTS

IN_THE_LEAF, *_, ELSEWHERE, NOWHERE = GROUNDS


def runs(*seconds: float) -> list[Run]:
    """Gangs that ran again on the first nodes of the leaf after so long, or never."""
    found = []
    for site, taken in zip(IN_THE_LEAF.sites(len(seconds)), seconds, strict=True):
        run = Run(site, 1, died=100.0)
        if math.isfinite(taken):
            run.again, run.after = 100.0 + taken, dict(enumerate(site.nodes[:8]))
        found.append(run)
    return found


@pytest.mark.parametrize(
    ("slow", "met"),
    [
        ((30.0, 30.0), "yes"),
        ((29.0, 90.0), "yes"),
        ((30.04, 30.04), "no"),
        ((math.inf, math.inf), "no"),
    ],
)
def test_a_row_meets_its_goal_where_its_p95_is_30_s_at_most(
    slow: tuple[float, float], met: str
) -> None:
    """Of 20 runs the p95 is the one before the slowest: that may take as long as it likes."""
    done = runs(*[20.0] * 18, *slow)
    cells = row("operator", IN_THE_LEAF, 1, done)
    table = dict(zip(HEADER, cells, strict=True))
    assert (table["goal s"], table["met"]) == ("30", met)
    assert (found_fault([cells], []) == "") is (met == "yes")


def test_rows_above_the_goal_and_gangs_that_are_not_back_are_named() -> None:
    """The program ends with status 1 for each of the two."""
    good = row("operator", IN_THE_LEAF, 1, runs(20.0))
    late = row("Job", IN_THE_LEAF, 8, runs(31.0))
    assert found_fault([good], []) == ""
    assert found_fault([good, late], []) == "p95 above 30 s: Job, in the leaf, 8"
    assert "where they may be: in-the-leaf-0" in found_fault([good], ["in-the-leaf-0"])


def test_gangs_that_cannot_be_repaired_are_told_so_within_the_goal() -> None:
    """Seconds are until an event says why; a gang that has moved did not stay."""
    (site,) = NOWHERE.sites(1)
    told = Run(site, 1, died=100.0, told=125.0)
    assert dict(zip(HEADER, row("operator", NOWHERE, 1, [told]), strict=True))["met"] == "yes"
    assert told.good
    assert not Run(site, 1, died=100.0, told=125.0, new={"other"}).good


@pytest.mark.parametrize(("slowest", "met"), [(30.0, "yes"), (30.1, "no")])
def test_the_first_page_says_whether_every_row_meets_the_goal(slowest: float, met: str) -> None:
    """One row above is enough, whichever it is."""
    rows = [
        row("operator", ELSEWHERE, 8, runs(20.0)),
        row("StatefulSet", IN_THE_LEAF, 1, runs(slowest)),
    ]
    page = Tables("recovery", f"# Recovery\n\n{markdown(HEADER, rows)}\n")
    (verdict,) = (one for one in VERDICTS if one.benchmark == "recovery")
    assert (verdict.figure(page), verdict.met(page)) == ("20.0", met)
    assert verdict.goal(page).startswith("30")
