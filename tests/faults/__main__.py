"""Run scenarios with seeds and count what held: `python -m tests.faults [NAME...]`."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.faults.runs import Count, Run, counts, run_all
from tests.faults.scenario import Scenario, every_scenario


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; the exit code is 0 where all held."""
    known = every_scenario()
    given = _parser().parse_args(arguments)
    if given.list:
        for one in known.values():
            _say(f"{one.name:32}{'quick ' if one.quick else '      '}{one.must}")
        return 0
    unknown = [name for name in given.names if name not in known]
    if unknown:
        _say(f"no scenario {', '.join(unknown)}; --list tells all of them")
        return 2
    chosen = _available([known[name] for name in given.names] or list(known.values()))
    seeds = range(given.first, given.first + given.seeds)
    runs = run_all(chosen, seeds, given.at_once, _teller(given.results))
    for count in counts(runs):
        _say(_row(count))
    return 0 if all(run.held for run in runs) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios (all)")
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds each (20)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--at-once", type=int, default=1, help="runs side by side (1)")
    parser.add_argument("--results", type=Path, help="a file to append a line of JSON a run to")
    parser.add_argument("--list", action="store_true", help="list the scenarios and end")
    return parser


def _available(scenarios: Sequence[Scenario]) -> list[Scenario]:
    found = []
    for one in scenarios:
        reason = one.unavailable()
        if reason:
            _say(f"{one.name}: skipped: {reason}")
        else:
            found.append(one)
    return found


def _teller(results: Path | None) -> Callable[[Run], None]:
    lock = threading.Lock()

    def tell(run: Run) -> None:
        with lock:
            _say(f"{run.scenario} seed {run.seed}: {_outcome(run)} in {run.seconds:g} s")
            for line in filter(None, (run.evictions, *run.excuses)):
                _say(f"  {line}")
            if not run.held:
                _say(f"  again: {run.again}\n  logs: {run.logs}")
            if results is not None:
                with results.open("a") as file:
                    file.write(f"{json.dumps(asdict(run))}\n")

    return tell


def _outcome(run: Run) -> str:
    return "held" if run.held else f"BREACHED ({run.why})"


def _row(count: Count) -> str:
    return (
        f"{count.scenario:32} tried {count.tried:3}  held {count.held:3}  "
        f"breached {count.breached:3}  median {count.median:g} s"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
