"""Take out one safeguard after the other, and show the test that turns red.

`python -m tests.mutants [WORD...]` takes those whose safeguard has one of the words in its name;
without a word, FOURLEAF_DEEP_SHARE=2/4 takes the second quarter.
Ends with 1 where a test stays green without its safeguard, or is red with all of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue

from rich.console import Console
from rich.markup import escape

from tests import depth
from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.workshop import FAILED, PASSED, Result, Workshop


def main(words: Sequence[str]) -> int:
    """Check the tests with all safeguards, then without each; the exit status."""
    console = Console(soft_wrap=True, highlight=False)
    chosen = [m for m in MUTANTS if any(word in m.safeguard for word in words)]
    if not words:
        chosen = [mutant for number, mutant in enumerate(MUTANTS) if depth.is_in_turn(number)]
    if not chosen:
        console.print(f"no safeguard has {' or '.join(words)} in its name\nThere are:")
        console.print("\n".join(m.safeguard for m in MUTANTS))
        return 2
    with ExitStack() as stack:
        workshops = [stack.enter_context(_workshop()) for _ in range(os.cpu_count() or 1)]
        pool = stack.enter_context(ThreadPoolExecutor(len(workshops)))
        if failed := _failed(pool, workshops, chosen):
            console.print(failed, markup=False)
            console.print("with every safeguard in place these tests fail\nMend them first.")
            return 1
        free = SimpleQueue[Workshop]()
        for workshop in workshops:
            free.put(workshop)
        reds = list(pool.map(lambda mutant: _dies(console, free, mutant), chosen))
    survived = [mutant for mutant, red in zip(chosen, reds, strict=True) if not red]
    caught = len(chosen) - len(survived)
    console.print(f"{caught} of {len(chosen)} safeguards have a test that fails without them")
    if len(chosen) < len(MUTANTS):
        console.print(f"{len(MUTANTS) - len(chosen)} others were not tried")
    return 1 if survived else 0


@contextmanager
def _workshop() -> Iterator[Workshop]:
    with tempfile.TemporaryDirectory(prefix="fourleaf-mutants-") as folder:
        yield Workshop(Path(folder))


def _failed(
    pool: ThreadPoolExecutor, workshops: Sequence[Workshop], chosen: Sequence[Mutant]
) -> str:
    """What pytest says where a test fails although nothing is taken out, else ""."""
    tests = sorted({mutant.test for mutant in chosen})
    shares = [tests[i :: len(workshops)] for i in range(min(len(workshops), len(tests)))]
    runs = pool.map(lambda workshop, share: workshop.run(*share), workshops, shares)
    return "\n".join(result.output for result in runs if result.status != PASSED)


def _dies(console: Console, free: SimpleQueue[Workshop], mutant: Mutant) -> bool:
    workshop, began = free.get(), time.monotonic()
    try:
        result = workshop.run_without(mutant)
    finally:
        free.put(workshop)
    red = result.status == FAILED
    verdict = "[red]red, as it has to be[/]" if red else "[bold]STAYS GREEN[/]"
    lines = [
        f"[bold]without {mutant.safeguard}[/]: {mutant.harm}",
        f"  {escape(mutant.test)}",
        f"  {verdict} ({time.monotonic() - began:.1f} s)",
    ]
    console.print("\n".join(lines if red else [*lines, escape(_end(result))]))
    return red


def _end(result: Result) -> str:
    return f"pytest ended with {result.status}\n" + "\n".join(result.output.splitlines()[-15:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
