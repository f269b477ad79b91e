"""The verdict on speed follows from the slowdowns, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.communication.figures import HEADER, columns, gathered, verdict
from benchmarks.replays import Case, Outcome
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.options import Communication, ReplayOptions
from fourleaf.simulator.replay import replay
from tests.simulator.made import job, leaves, options, trace


def outcome(policy: str, slowdown: float, shared: int = 8) -> Outcome:
    """Replay a gang, and give it a slowdown."""
    record = replay(trace(job("a", 0, 100, pods=2)), leaves(2), options("first-fit"))
    told = ReplayOptions(policy=policy, communication=Communication(True, shared))
    summary = replace(summarise(record), slowdown=slowdown)
    return Outcome(Case("kalos", 80, told), "made", 1, summary, record.counts, 1.0)


def test_every_column_has_a_figure() -> None:
    """As many cells as heads; oversubscription as a ratio."""
    ((key, one),) = gathered([outcome("cpsat", 1.25)]).items()
    assert len(columns(key, one)) == len(HEADER)
    assert columns(key, one)[:3] == ["8:1", "cpsat", "1.250"]


def test_the_verdict_is_that_of_the_largest_gain() -> None:
    """1.5 for 1.1 is 36.4 % more steps at 8:1; of those that know leaves greedy is 10 % behind."""
    said = verdict(
        gathered(
            [
                outcome("cpsat", 1.1),
                outcome("greedy", 1.21),
                outcome("spread", 1.5),
                outcome("cpsat", 1.0, 2),
                outcome("greedy", 1.05, 2),
            ]
        )
    )
    assert said.startswith('"Faster by up to 30%": met.')
    assert "36.4% more steps" in said
    assert "10.0% at most: greedy at 8:1, 1.100 for 1.210" in said
    assert "slower" not in said


def test_a_claim_that_is_not_reached_is_not_met() -> None:
    """1.2 for 1.0 is 20 %; buddy is faster than ours by 1 - 0.99 / 1.0, and named."""
    rows = [outcome("cpsat", 1.0), outcome("spread", 1.2), outcome("buddy", 0.99)]
    said = verdict(gathered(rows))
    assert "not met" in said
    assert "slower in 1 of 2 comparisons, at most by 1.0%: buddy at 8:1" in said
    assert verdict(gathered(rows[1:])).endswith("no verdict.")
