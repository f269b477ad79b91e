"""Take out one safeguard after the other, and show the test that turns red.

`python -m tests.mutants [WORD...]` takes those whose safeguard has one of the words in its name.
Ends with 1 where a test stays green without its safeguard, or is red with all of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.workshop import FAILED, PASSED, Result, Workshop


def main(words: Sequence[str]) -> int:
    """Check the tests with all safeguards, then without each; the exit status."""
    console = Console(soft_wrap=True, highlight=False)
    chosen = [m for m in MUTANTS if not words or any(word in m.safeguard for word in words)]
    if not chosen:
        console.print(f"no safeguard has {' or '.join(words)} in its name\nThere are:")
        console.print("\n".join(m.safeguard for m in MUTANTS))
        return 2
    with tempfile.TemporaryDirectory(prefix="fourleaf-mutants-") as folder:
        workshop = Workshop(Path(folder))
        whole = workshop.run(*sorted({mutant.test for mutant in chosen}))
        if whole.status != PASSED:
            console.print(whole.output, markup=False)
            console.print("with every safeguard in place these tests fail\nMend them first.")
            return 1
        survived = [mutant for mutant in chosen if not _dies(console, workshop, mutant)]
    caught = len(chosen) - len(survived)
    console.print(f"{caught} of {len(chosen)} safeguards have a test that fails without them")
    return 1 if survived else 0


def _dies(console: Console, workshop: Workshop, mutant: Mutant) -> bool:
    began = time.monotonic()
    result = workshop.run_without(mutant)
    red = result.status == FAILED
    verdict = "[red]red, as it has to be[/]" if red else "[bold]STAYS GREEN[/]"
    console.print(f"[bold]without {mutant.safeguard}[/]: {mutant.harm}")
    console.print(f"  {escape(mutant.test)}")
    console.print(f"  {verdict} ({time.monotonic() - began:.1f} s)")
    if not red:
        console.print(_end(result), markup=False)
    return red


def _end(result: Result) -> str:
    return f"pytest ended with {result.status}\n" + "\n".join(result.output.splitlines()[-15:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
