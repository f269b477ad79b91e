"""Write the counts of runs into docs/reliability.md: `python -m tests.faults.report FILE...`.

Each FILE holds lines of JSON as `python -m tests.faults --results FILE` appends them. A run that
was repeated with the same seed counts once, by its last line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.results import machine, markdown
from tests.faults.runs import Run, counts
from tests.faults.scenario import every_scenario
from tests.history.laws.served import tally

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
START, END = "<!-- faults -->", "<!-- /faults -->"
COUNTS = ("served", "excused", "went_back")
HEADER = ["scenario", "what must hold", "tried", "held", "seeds", "median s"]


def read(files: Iterable[Path]) -> list[Run]:
    """All runs of these files, the last one of each scenario and seed."""
    found: dict[tuple[str, int], Run] = {}
    for file in files:
        for line in file.read_text().splitlines():
            run = Run(**json.loads(line))
            found[run.scenario, run.seed] = run
    return [found[key] for key in sorted(found)]


def table(runs: Sequence[Run]) -> str:
    """One row for each scenario, those that nobody tried included."""
    known = every_scenario()
    rows = []
    for count in counts(runs):
        seeds = sorted(run.seed for run in runs if run.scenario == count.scenario)
        rows.append(
            [
                f"`{count.scenario}`",
                known[count.scenario].must,
                str(count.tried),
                str(count.held),
                _spans(seeds),
                f"{count.median:g}",
            ]
        )
    tried = {run.scenario for run in runs}
    rows += [
        [f"`{name}`", one.must, "0", "", "", ""]
        for name, one in sorted(known.items())
        if name not in tried
    ]
    return markdown(HEADER, rows)


def evictions(runs: Sequence[Run]) -> str:
    """What the evictions of these runs came to, where that was asked; each excuse with its run."""
    asked = [run for run in runs if run.served is not None]
    if not asked:
        return ""
    counts = [sum(getattr(run, name) or 0 for run in asked) for name in COUNTS]
    excuses = [f"- `{run.scenario}` {run.seed}: {why}" for run in asked for why in run.excuses]
    found = f"Of pods that lived, in {len(asked)} of these runs: {tally(*counts)}."
    return "\n".join(["", found, *([""] if excuses else []), *excuses, ""])


def _spans(seeds: Sequence[int]) -> str:
    """Seeds in their order, neighbours joined: `1-20, 25`."""
    spans: list[list[int]] = []
    for seed in seeds:
        if spans and seed == spans[-1][-1] + 1:
            spans[-1][1:] = [seed]
        else:
            spans.append([seed])
    return ", ".join("-".join(map(str, span)) for span in spans)


def write(page: Path, runs: Sequence[Run]) -> None:
    """Replace the part of `page` between its marks. Raises `ValueError` where it has none."""
    text = page.read_text()
    if START not in text or END not in text:
        raise ValueError(f"{page}: no {START} and {END}\nPut both where the table is to stand.")
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    told = f"{machine()}\n\n{table(runs)}\n{evictions(runs)}"
    page.write_text(f"{before}{START}\n{told}{END}{after}")


def main(files: Sequence[str]) -> int:
    """Read the files and write the page; the exit status."""
    if not files:
        sys.stderr.write("no file of results\nMake one: python -m tests.faults --results FILE\n")
        return 2
    write(PAGE, read(map(Path, files)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
