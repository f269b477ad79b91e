"""The tables of replays say what came of them, and where ours is behind."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.kept import Kept
from benchmarks.replays import Case, Finished, Outcome, with_slack
from benchmarks.trace.figures import HEADER, behind, columns, gathered
from simulator.measures.summary import summarise
from simulator.options import Options
from simulator.replay import replay
from tests.simulator.made import job, leaves, options, trace

JOBS = trace(job("a", 0, 100, pods=2), job("b", 1, 50, pods=3), job("c", 2, 50))


def outcome(policy: str, **changes: Any) -> Outcome:
    """Replay three gangs, and change some of the figures."""
    record = replay(JOBS, leaves(3, 1), options("first-fit"))
    summary = replace(summarise(record), **changes)
    return Outcome(Case("made", 90, Options(policy=policy)), "made", 3, summary, record.counts, 1.0)


def test_every_column_has_a_figure() -> None:
    """As many cells as heads, none empty."""
    ((key, one),) = gathered([outcome("cpsat")]).items()
    line = columns(key, one)
    assert len(line) == len(HEADER)
    assert all(line)


def test_deals_of_a_trace_are_averaged() -> None:
    """Allocations of 40 and 60 % are 50 %; other policies stay apart."""
    found = gathered(
        [
            outcome("cpsat", allocation=0.4),
            outcome("cpsat", allocation=0.6),
            outcome("greedy", allocation=0.7),
        ]
    )
    assert [(key[2], one.allocation) for key, one in found.items()] == [
        ("cpsat", 0.5),
        ("greedy", 0.7),
    ]


def test_nobody_is_behind_an_equal() -> None:
    """The same figures under two names."""
    assert behind(gathered([outcome("cpsat"), outcome("greedy")])).startswith("Ours is ahead")


def test_who_is_ahead_is_named_with_its_breaches() -> None:
    """A baseline with more allocation, and one with fewer leaves in illegal places."""
    said = behind(
        gathered(
            [
                outcome("cpsat", allocation=0.5, leaves=1.2),
                outcome("greedy", allocation=0.6, leaves=1.3),
                outcome("spread", allocation=0.4, leaves=1.1, broken=3),
            ]
        )
    )
    assert said.splitlines()[2:] == [
        "- made at 90 %, allocation: greedy",
        "- made at 90 %, leaves per gang: spread (illegal)",
    ]


def test_slack_is_the_topologys() -> None:
    """Nothing else of the options changes."""
    told = with_slack(Options(seed=7), 1)
    assert told.config.spec.topology.window_slack == 1
    assert with_slack(told, 0) == replace(Options(seed=7), config=with_slack(told, 0).config)


def test_a_benchmark_goes_on_from_what_it_kept(tmp_path: Path) -> None:
    """What one run has found another reads as it was, and only of the same case."""
    case = Case("made", 90, Options())
    record = replay(JOBS, leaves(3, 1), options("spread"))
    found = Finished("made", 3, summarise(record), record.counts, 1.5)
    Kept(tmp_path / "kept", Finished).add(case, found)
    again = Kept(tmp_path / "kept", Finished)
    assert again.get(case) == found
    assert again.get(replace(case, load=80)) is None
