"""Run seeds: `python -m tests.simulation --seeds 1000`, or `--seed 7` to see one of them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from tests.simulation.run import Mode, Verdict, run

_MODES: dict[str, tuple[Mode, ...]] = {
    "safety": ("safety",),
    "progress": ("progress",),
    "both": ("safety", "progress"),
}


def main() -> int:
    """Run what the command line asks for; 1 where a law was broken."""
    asked = _parser().parse_args()
    modes = _MODES[asked.mode]
    if asked.seed is not None:
        verdicts = [run(asked.seed, mode, aloud=True) for mode in modes]
    else:
        seeds = range(asked.first, asked.first + asked.seeds)
        verdicts = list(_all([(seed, mode) for seed, mode in product(seeds, modes)], asked.at_once))
    failed = [verdict for verdict in verdicts if verdict.breaches]
    _sum_up(verdicts, failed)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="replay this seed and tell all that happens")
    parser.add_argument("--seeds", type=int, default=500, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--mode", choices=sorted(_MODES), default="both")
    parser.add_argument("--at-once", type=int, default=1, help="processes")
    return parser


def _all(jobs: list[tuple[int, Mode]], at_once: int) -> Iterator[Verdict]:
    if at_once == 1:
        yield from map(_told, jobs)
        return
    with ProcessPoolExecutor(at_once) as pool:
        yield from pool.map(_told, jobs, chunksize=4)


def _told(job: tuple[int, Mode]) -> Verdict:
    verdict = run(*job)
    if verdict.breaches:
        print(verdict, flush=True)  # noqa: T201 - what this program is for
    return verdict


def _sum_up(verdicts: list[Verdict], failed: list[Verdict]) -> None:
    injected: Counter[str] = Counter()
    happened: Counter[str] = Counter()
    for verdict in verdicts:
        injected += verdict.injected
        happened += verdict.happened
    for title, counts in (("faults", injected), ("events", happened)):
        said = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
        print(f"{title}: {said}")  # noqa: T201
    for mode in ("safety", "progress"):
        ran = [verdict for verdict in verdicts if verdict.mode == mode]
        if ran:
            bad = sum(verdict.mode == mode for verdict in failed)
            print(f"{mode}: {len(ran) - bad} of {len(ran)} seeds passed")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
