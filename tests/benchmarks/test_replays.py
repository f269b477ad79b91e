"""The tables of replays say what came of them, and where ours is behind."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks import replays
from benchmarks.kept import Kept
from benchmarks.replays import (
    Case,
    Finished,
    Outcome,
    left_out,
    run_all,
    with_slack,
    with_window_nodes,
)
from benchmarks.results import ran
from benchmarks.sources import code_of, hashed
from benchmarks.trace.figures import HEADER, behind, columns, gathered
from benchmarks.trace.week import Week, line
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.options import ReplayOptions
from fourleaf.simulator.replay import replay
from tests.simulator.made import job, leaves, options, trace

JOBS = trace(job("a", 0, 100, pods=2), job("b", 1, 50, pods=3), job("c", 2, 50))


def outcome(policy: str, deal: int = 0, **changes: Any) -> Outcome:
    """Replay three gangs, and change some of the figures."""
    record = replay(JOBS, leaves(3, 1), options("first-fit"))
    summary = replace(summarise(record), **changes)
    case = Case("made", 90, ReplayOptions(policy=policy), deal=deal)
    return Outcome(case, "made", 3, summary, record.counts, 1.0)


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
            outcome("cpsat", 1, allocation=0.6),
            outcome("greedy", allocation=0.7),
        ]
    )
    lines = [dict(zip(HEADER, columns(key, one), strict=True)) for key, one in found.items()]
    assert [(one["policy"], one["deals"], one["allocation"]) for one in lines] == [
        ("cpsat", "2", "50.0 %"),
        ("greedy", "1", "70.0 %"),
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
        "- made at 90 %, allocation, ours 50.0 %: greedy by 10.0 points",
        "- made at 90 %, leaves per gang, ours 1.200: spread by 0.100, 3 gangs illegal",
    ]


def test_without_ours_nothing_is_compared() -> None:
    """Baselines alone: nobody can be ahead of ours."""
    assert "nothing to compare" in behind(gathered([outcome("greedy")]))
    assert "nothing to compare" in behind(gathered([outcome("cpsat")]))


def test_a_section_names_the_command_that_replays_it() -> None:
    """A file of findings is nobody else's: the command stands without it, and it is told."""
    said = ran("trace", ["--kept", "build/kept", "--load", "90", "--no-replay", "--any-code"])
    assert said.startswith("`python -m benchmarks.trace --load 90`")
    assert "kept in a file" in said
    assert "findings of baselines may be of earlier code" in said
    assert ran("trace", ["--quick", "--write"]) == "`python -m benchmarks.trace --quick --write`"


def test_deals_that_only_one_has_replayed_count_for_nobody() -> None:
    """Greedy is ahead by 5 points in the first deal, the only one of both."""
    said = behind(
        gathered(
            [
                outcome("cpsat", allocation=0.5),
                outcome("cpsat", 1, allocation=0.1),
                outcome("greedy", allocation=0.55),
            ]
        )
    )
    assert said.splitlines()[2].endswith("ours 30.0 %: greedy by 5.0 points")
    both = [outcome("cpsat", deal, allocation=0.5) for deal in (0, 1)]
    theirs = [outcome("greedy", 0, allocation=0.7), outcome("greedy", 1, allocation=0.4)]
    said = behind(gathered([*both, *theirs]))
    assert said.splitlines()[2].endswith("greedy by 5.0 points, 1 of 2 deals")


def test_what_was_not_replayed_is_named() -> None:
    """Two cases of three have an outcome."""
    cases = [Case("made", load, ReplayOptions()) for load in (70, 80, 90)]
    found = [replace(outcome("cpsat"), case=case) for case in cases[:2]]
    named = [(f"at {case.load} %", case) for case in cases]
    assert left_out(named, found) == ["Not replayed: made: at 90 %."]
    assert left_out(named[:2], found) == []


def test_slack_and_windows_are_the_configs() -> None:
    """Nothing else of the options changes."""
    all_in_windows = with_window_nodes(ReplayOptions(seed=7), 65536)
    assert all_in_windows.config.spec.topology_constraints.window_nodes == 65536
    assert with_window_nodes(all_in_windows, 16) == ReplayOptions(seed=7)
    told = with_slack(ReplayOptions(seed=7), 1)
    assert told.config.spec.topology.window_slack == 1
    assert with_slack(told, 0) == replace(ReplayOptions(seed=7), config=with_slack(told, 0).config)


def test_a_benchmark_goes_on_from_what_it_kept(tmp_path: Path) -> None:
    """What one run has found another reads as it was, and only of the same case."""
    case = Case("made", 90, ReplayOptions())
    record = replay(JOBS, leaves(3, 1), options("spread"))
    found = Finished("made", 3, summarise(record), record.counts, 1.5)
    Kept(tmp_path / "kept", Finished).add(case, found, "code")
    again = Kept(tmp_path / "kept", Finished)
    assert again.get(case, "code") == found
    assert again.get(replace(case, load=80), "code", any_code=True) is None


def test_what_other_code_found_counts_only_where_it_is_wanted(tmp_path: Path) -> None:
    """A line of a file without code, and one of other code: never for ours, on demand for others.

    Where this code has found something, that counts before any.
    """
    file = tmp_path / "kept"

    record = replay(JOBS, leaves(3, 1), options("spread"))
    old = Finished("made", 3, summarise(record), record.counts, 1.5)
    cases = [Case("made", 90, ReplayOptions(policy=policy)) for policy in ("cpsat", "spread")]
    for case in cases:
        Kept(file, Finished).add(case, old, "")
    lines = [orjson.loads(line)[:3] for line in file.read_bytes().splitlines()]
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert list(run_all(cases, 1, file, fresh=False)) == []
    assert list(run_all(cases, 1, file, fresh=False, any_code=True)) == [old.of(cases[1])]
    new = replace(old, seconds=2.5)
    for case in cases:
        Kept(file, Finished).add(case, new, code_of(case.options.policy))
    for any_code in (False, True):
        there = list(run_all(cases, 1, file, fresh=False, any_code=any_code))
        assert there == [new.of(case) for case in cases]


def test_a_finding_of_two_codes_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sources change while a case is replayed: it ends, and nothing is kept."""
    file = tmp_path / "kept"
    record = replay(JOBS, leaves(3, 1), options("spread"))
    found = Finished("made", 3, summarise(record), record.counts, 1.5)
    monkeypatch.setattr(replays, "run", lambda _: found)
    case = Case("made", 90, ReplayOptions(policy="spread"))
    assert list(run_all([case], 1, file)) == [found.of(case)]
    monkeypatch.setattr(replays, "code_now", lambda _: "other")
    with pytest.raises(RuntimeError, match="'spread' runs have changed"):
        list(run_all([replace(case, load=80)], 1, file))
    assert len(file.read_bytes().splitlines()) == 1


def test_the_code_of_a_finding_is_that_of_its_sources(tmp_path: Path) -> None:
    """Names and bytes count, their order does not; ours and baselines have codes of their own."""
    for name, text in (("a.py", "1"), ("b.py", "2")):
        (tmp_path / name).write_text(text)
    both = [tmp_path / "a.py", tmp_path / "b.py"]
    before = hashed(tmp_path, both)
    assert hashed(tmp_path, both[::-1]) == before
    assert hashed(tmp_path, both[:1]) != before
    (tmp_path / "b.py").write_text("3")
    assert hashed(tmp_path, both) != before
    assert code_of("cpsat") != code_of("greedy") == code_of("spread")


@pytest.mark.parametrize(
    ("wall", "cpu", "words"),
    [(299, 150, ": met."), (301, 150, "met by CPU time."), (500, 301, ": missed.")],
)
def test_the_goal_of_a_week_is_judged_by_the_clock(wall: float, cpu: float, words: str) -> None:
    """300 s; on a machine that others use CPU time is told, as what it is."""
    assert line(Week(10, 20, 0, 0.5, wall, cpu)).endswith(words)


def test_kinds_of_findings_share_a_file(tmp_path: Path) -> None:
    """A week is no outcome of a case, whoever wrote it there."""
    found = Week(1, 2, 0, 0.5, 3.0, 4.0)
    Kept(tmp_path / "kept", Week).add("week", found, "")
    assert Kept(tmp_path / "kept", Finished).get("week", "") is None
    assert Kept(tmp_path / "kept", Week).get("week", "") == found
