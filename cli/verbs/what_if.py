"""`fourleaf plan --what-if`: the plan of now beside the one under another config."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.input.files import need_terms, open_files
from fourleaf.cli.input.plan_input import Input, planned
from fourleaf.cli.options import OutputFormat
from fourleaf.cli.output.console import glyphs, print_set_aside
from fourleaf.cli.output.documents import tell

if TYPE_CHECKING:
    from fourleaf.model.readers import Source
    from fourleaf.model.scores.comparison import Comparison
    from fourleaf.solver.process.client import SolverClient


def compared(client: SolverClient, given: Input, what_if: str) -> Comparison:
    """Plan what is given under its own config, and under that changed as `what_if` says.

    Both are of one moment. Raises `BadInput`.
    """
    from fourleaf.model.readers.config_patch import patched
    from fourleaf.model.scores.comparison import PlannedSnapshot, compare

    change = source_of(what_if)
    gathered = given.gather()
    reading = gathered.reading()
    config = patched(reading.snapshot.config, change)
    need_terms(config, change.name, client.extensions_in_force())
    changed = gathered.reading(config)
    print_set_aside(dict.fromkeys((*reading.problems, *changed.problems)))
    before = PlannedSnapshot(reading.snapshot, planned(client, reading.snapshot))
    after = PlannedSnapshot(changed.snapshot, planned(client, changed.snapshot))
    return compare(before, after, client.extensions_in_force())


def source_of(what_if: str) -> Source:
    """The file that `what_if` names, or the weights that it states. Raises `BadInput`."""
    from fourleaf.model.problems import shown
    from fourleaf.model.readers import Source

    if "=" not in what_if or Path(what_if).exists():
        return open_files([what_if])[0]
    weights: dict[str, str] = {}
    for part in what_if.split(","):
        name, mark, weight = part.partition("=")
        if not (name and mark and weight):
            advice = "Give TERM=WEIGHT, several with commas, or the path of a file."
            raise bad_input("--what-if", "is no weight of a term", advice, value=shown(part))
        weights[name.strip()] = weight.strip()
    return Source("--what-if", objects=[weights])


def tell_comparison(comparison: Comparison, output: OutputFormat) -> None:
    """Print it."""
    from fourleaf.cli.output.comparison_json import comparison_document
    from fourleaf.cli.render.comparison import comparison_view

    tell(
        lambda: comparison_document(comparison),
        lambda: comparison_view(comparison, glyphs(), output is OutputFormat.WIDE),
        output,
    )
