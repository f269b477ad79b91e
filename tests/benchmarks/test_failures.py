"""From replays with failures to rows, and why one way is ahead, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.failures.figures import HEADER, columns, gathered, why
from benchmarks.replays import Case, Outcome
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.options import FailureModel, ReplayOptions
from fourleaf.simulator.replay import replay
from tests.simulator.made import job, leaves, options, trace


def outcome(seed: int = 0, hit: int = 0, **changes: Any) -> Outcome:
    """Replay a gang, and change some of the figures."""
    record = replay(trace(job("a", 0, 100)), leaves(1), options("first-fit"))
    record.counts.hit = hit
    case = Case("made", 80, ReplayOptions(seed=seed, failures=FailureModel(65.0)))
    return Outcome(case, "made", 1, replace(summarise(record), **changes), record.counts, 1.0)


def test_what_is_lost_is_work_standstill_and_waiting_over_the_seeds() -> None:
    """(10 + 2 + 6) and (30 + 4 + 0): 26 GPU-hours on average, of them 20, 3 and 3."""
    found = gathered(
        [
            ("restart", outcome(0, 3, lost=10.0, stalled=2.0, again=6.0)),
            ("restart", outcome(1, 6, lost=30.0, stalled=4.0)),
        ]
    )
    ((key, seeds),) = found.items()
    cells = columns(key, seeds)
    assert len(cells) == len(HEADER)
    row = dict(zip(HEADER, cells, strict=True))
    assert (row["seeds"], row["gangs hit"], row["GPU-hours lost"]) == ("2", "4.5", "26")
    assert (row["of them work"], row["of them standstill"]) == ("20", "3")
    assert row["of them waited after a failure"] == "3"


def test_why_compares_the_seeds_of_both_part_by_part() -> None:
    """Over seed 0 alone repair loses 5 more by work and 9 less by waiting, for 2 moves."""
    found = gathered(
        [
            ("repair", outcome(0, 4, lost=15.0, again=0.0, moves=2)),
            ("repair", outcome(1, 9, lost=99.0)),
            ("restart", outcome(0, 3, lost=10.0, again=9.0)),
        ]
    )
    assert why(found, "restart").splitlines()[2:] == [
        "- made at 65, beside restart: repair -4 (work +5, standstill +0, waiting -9), above all "
        "waiting, with +1 gangs hit and 2 moves."
    ]
    assert why(found, "patch") == ""
