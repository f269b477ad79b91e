"""`fourleaf lint`: what is wrong with an input, and what was understood of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from fourleaf.cli.input.files import moment, open_files
from fourleaf.cli.options import Answer, Files, Now, OutputFormat
from fourleaf.cli.output.console import EXIT_BAD_INPUT, EXIT_OK, print_problems, show
from fourleaf.cli.output.documents import Document, for_people, problem_document, write_document

if TYPE_CHECKING:
    from fourleaf.model.readers import InputReading, Source


def lint(files: Files, now: Now = None, output: Answer = OutputFormat.TABLE) -> None:
    """Check manifests.

    Prints every problem, warnings included, and what was understood.

    Exit code: 0 everything can be used, 2 something cannot.
    """
    at = moment(now)
    from fourleaf.cli.lint.api_refusals import api_refusals
    from fourleaf.cli.lint.late_jobs import late_jobs
    from fourleaf.cli.maps.faults import map_faults
    from fourleaf.model.readers import read

    sources = open_files(files)
    reading = read(sources, at, strict=False)
    late = late_jobs(sources, reading.snapshot.config.spec)
    more = (*api_refusals(sources), *late, *map_faults(sources))
    found = sorted((*reading.problems, *more), key=lambda one: not one.is_error)
    reading = replace(reading, problems=tuple(found))
    errors = sum(problem.is_error for problem in reading.problems)
    if for_people(output):
        _show(reading, sources, errors)
    else:
        write_document(_document(reading, sources, errors), output)
    raise typer.Exit(EXIT_BAD_INPUT if errors else EXIT_OK)


def _show(reading: InputReading, sources: Sequence[Source], errors: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from fourleaf.cli.lint.understood import understood
    from fourleaf.model.reasons.text import counted

    print_problems(reading.problems, to_stdout=True)
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, facts in understood(reading, sources):
        table.add_row(Text(name, style="bold"), Text(facts))
    warnings = len(reading.problems) - errors
    verdict = Text(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}")
    show([*([Text()] if reading.problems else []), table, Text(), verdict])


def _document(reading: InputReading, sources: Sequence[Source], errors: int) -> Document:
    from fourleaf.cli.lint.understood import understood
    from fourleaf.model.config.spec import API_VERSION

    return {
        "apiVersion": API_VERSION,
        "kind": "Lint",
        "errors": errors,
        "warnings": len(reading.problems) - errors,
        "problems": [problem_document(problem) for problem in reading.problems],
        "understood": dict(understood(reading, sources)),
    }
