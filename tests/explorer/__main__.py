"""Explore: `python -m tests.explorer protocol`, or `code --scenario back --preemptions 2`.

`relocations` are stories of their own, with a whole term of each leader.

Ends with 1 where a breach was found, with 3 where `--most` cut the search short.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from rich.console import Console

from tests.explorer.code.explore import explore
from tests.explorer.code.scenario import Bounds
from tests.explorer.code.scenarios import SCENARIOS
from tests.explorer.engine.result import Result
from tests.explorer.engine.search import search
from tests.explorer.protocol.scopes import SCOPES
from tests.explorer.protocol.system import Protocol
from tests.explorer.relocation.stories import STORIES
from tests.explorer.relocation.system import explore_story


def main() -> int:
    """Search what the command line asks for, one line of counts each; the exit status."""
    asked = _parser().parse_args()
    console = Console(soft_wrap=True, highlight=False)
    cut = False
    for told, result in chain(_protocol(asked), _code(asked), _relocations(asked)):
        console.print(told, markup=False)
        if result.breach is not None:
            console.print(f"BREACH: {result.breach}", markup=False)
            return 1
        cut = cut or not result.complete
    return 3 if cut else 0


def _protocol(asked: argparse.Namespace) -> Iterator[tuple[str, Result]]:
    """Each scope, with more going wrong where the command line says so."""
    for known in SCOPES:
        if asked.what not in ("protocol", "all") or asked.scenario not in ("", known.name):
            continue
        scope = replace(
            known,
            faults=asked.faults,
            crashes=asked.crashes,
            deaths=max(known.deaths, asked.deaths),
            replaced=asked.replaced,
        )
        result = search(Protocol(scope), most=asked.most)
        yield f"{scope}\n  {result}", result


def _code(asked: argparse.Namespace) -> Iterator[tuple[str, Result]]:
    for scenario in SCENARIOS:
        if asked.what not in ("code", "all") or asked.scenario not in ("", scenario.name):
            continue
        explored = explore(scenario, Bounds(asked.faults, asked.preemptions), asked.most)
        yield str(explored), explored.result


def _relocations(asked: argparse.Namespace) -> Iterator[tuple[str, Result]]:
    for story in STORIES:
        if asked.what not in ("relocations", "all") or asked.scenario not in ("", story.name):
            continue
        explored = explore_story(story, Bounds(asked.faults, asked.preemptions), asked.most)
        yield str(explored), explored.result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.explorer", description=__doc__)
    what = ["protocol", "code", "relocations", "all"]
    parser.add_argument("what", nargs="?", choices=what, default="all")
    parser.add_argument("--scenario", default="", help="explore this one alone")
    parser.add_argument("--faults", type=int, default=1, help="faulty requests, at most")
    parser.add_argument("--crashes", type=int, default=0, help="protocol: processes that restart")
    parser.add_argument("--deaths", type=int, default=0, help="protocol: nodes found dead")
    parser.add_argument("--replaced", type=int, default=0, help="protocol: pods made anew")
    parser.add_argument("--preemptions", type=int, help="not protocol: interruptions, at most")
    parser.add_argument("--most", type=int, help="states of each search, at most")
    return parser


if __name__ == "__main__":
    sys.exit(main())
