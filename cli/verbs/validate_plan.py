"""`fourleaf validate-plan`: whether a plan keeps every law, checked without the solver."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.input.files import moment, need_nodes, need_terms, read_files
from fourleaf.cli.options import Answer, Files, Now, OutputFormat
from fourleaf.cli.output.console import EXIT_BREACHES, EXIT_OK, Printable, out
from fourleaf.cli.output.documents import Document, for_people, write_document

if TYPE_CHECKING:
    from fourleaf.model.plan import Plan
    from fourleaf.model.validator import Breach


def validate_plan(
    files: Files,
    plan: Annotated[
        str, typer.Option("--plan", metavar="PATH", help="A plan, as plan -o json prints it.")
    ],
    now: Now = None,
    output: Answer = OutputFormat.TABLE,
) -> None:
    """Check a plan against a snapshot.

    Prints every breach of a law, wrong numbers included; the solver takes no part.

    Exit code: 0 the plan holds, 1 it breaks a law, 2 bad input.
    """
    at = moment(now)
    if plan == "-" and "-" in files:
        raise typer.BadParameter("-f and --plan cannot both be standard input")
    from fourleaf.cli.output.plan_claims import claim_breaches
    from fourleaf.model.documents.plan_reader import from_document
    from fourleaf.model.extensions import load
    from fourleaf.model.validator import validate

    reading = read_files(files, at)
    snapshot, extensions = reading.snapshot, load()
    need_nodes(reading, files)
    need_terms(snapshot.config, reading.config_source, extensions)
    document = _document(plan)
    checked = from_document(document, plan)
    breaches = validate(snapshot, checked, extensions)
    breaches += claim_breaches(snapshot, checked, cast("Mapping[str, Any]", document), breaches)
    if for_people(output):
        _show(checked, breaches)
    else:
        write_document(check_document(checked, breaches), output)
    raise typer.Exit(EXIT_BREACHES if breaches else EXIT_OK)


def _show(checked: Plan, breaches: Sequence[Breach]) -> None:
    from rich.text import Text

    console = out()
    for breach in breaches:
        line = Text(str(breach))
        line.stylize("bold red", 0, len(breach.law.value))
        console.print(Printable(line), soft_wrap=True)
    verdict = f"{len(breaches):,} breaches" if breaches else "the plan holds"
    gangs = f"{len(checked.placements):,} placed, {len(checked.waiting):,} waiting"
    console.print(f"{verdict} ({gangs})")


def check_document(checked: Plan, breaches: Sequence[Breach]) -> Document:
    """What was found, breach by breach."""
    from fourleaf.model.config.spec import API_VERSION

    return {
        "apiVersion": API_VERSION,
        "kind": "PlanCheck",
        "holds": not breaches,
        "placed": len(checked.placements),
        "waiting": len(checked.waiting),
        "breaches": [
            {
                "law": one.law.value,
                "gang": None if one.gang is None else str(one.gang),
                "subject": one.subject,
                "detail": one.detail,
            }
            for one in breaches
        ],
    }


def _document(path: str) -> object:
    """The one document in the file `path`. Raises `BadInput`."""
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers.text.json import BadText
    from fourleaf.model.readers.text.sources import documents, open_paths

    source = open_paths([path], sys.stdin.buffer)[0]
    if source.problem is not None:
        raise BadInput([source.problem])
    try:
        found = documents(source)
    except BadText as bad:
        message, advice = str(bad), bad.advice
    else:
        if len(found) == 1:
            return found[0]
        message, advice = f"holds {len(found)} documents", "Give a file with one plan."
    raise bad_input(path, message, advice)
