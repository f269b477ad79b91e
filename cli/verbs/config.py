"""`fourleaf config`: the config in force, whether it is valid, and what its weights mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from fourleaf.cli.input.files import need_terms, open_files
from fourleaf.cli.options import Answer, MaybeFiles, OutputFormat
from fourleaf.cli.output import console
from fourleaf.cli.output.console import print_problems
from fourleaf.cli.output.documents import Document, for_people, tell, write_document

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.problems import Problem

app = typer.Typer(help="Show, validate or explain the config.", no_args_is_help=True)


@app.command()
def show(files: MaybeFiles = None, output: Answer = OutputFormat.YAML) -> None:
    """Print the config in force, defaults included, as YAML; a table has a line for each field."""
    from fourleaf.cli.output.text import plain

    config, source = load(files)
    document = plain(config.model_dump(by_alias=True, exclude_none=True))
    if for_people(output):
        console.show(_fields(document, source))
        return
    if output is OutputFormat.YAML:
        console.write(f"# {source}")
    write_document(document, output)


def _fields(document: Document, source: str) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for name, value in _flat("spec", document["spec"]):
        table.add_row(Text(name), Text(str(value)))
    yield Text(source, style="dim")
    yield table


def _flat(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _flat(f"{path}.{name}", part)
    else:
        yield path, value


@app.command()
def validate(files: MaybeFiles = None, output: Answer = OutputFormat.TABLE) -> None:
    """Check the config. Exit code: 0 it is valid, 2 it is not."""
    from fourleaf.model.config.spec import API_VERSION
    from fourleaf.model.extensions import load as load_extensions

    config, source = load(files)
    need_terms(config, source, load_extensions())
    if for_people(output):
        console.write(f"{source}: valid")
        return
    found = {"apiVersion": API_VERSION, "kind": "ConfigCheck", "source": source, "valid": True}
    write_document(found, output)


@app.command()
def explain(files: MaybeFiles = None, output: Answer = OutputFormat.TABLE) -> None:
    """Print what every weight means and what it comes to for each kind of gang."""
    from rich.text import Text

    from fourleaf.cli.render.weights import weights_document, weights_view

    config, source = load(files)
    tell(
        lambda: weights_document(config.spec, source),
        lambda: [Text(source, style="dim"), *weights_view(config.spec)],
        output,
    )


def load(files: list[str] | None) -> tuple[SchedulerConfig, str]:
    """The config in `files` and where it stands, without files the defaults.

    Raises `BadInput` for errors in it, and where files are given that hold none.

    Errors of other objects are none of its business: a cluster's dump may be given.
    """
    from fourleaf.model.config.spec import CONFIG_MAP, KINDS
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers import read
    from fourleaf.model.readers.config import BUILT_IN

    reading = read(open_files(files or ()), strict=False)
    ours = (*KINDS, "ConfigMap")
    wrong = [
        problem
        for problem in reading.problems
        if problem.is_error
        and (not problem.object or problem.object.startswith(ours))
        and (not problem.object.startswith("ConfigMap") or CONFIG_MAP in problem.object)
    ]
    if wrong:
        raise BadInput(wrong)
    if files and reading.config_source == BUILT_IN:
        raise BadInput([_none_in(files)])
    print_problems(one for one in reading.problems if one.object.startswith(ours))
    return reading.snapshot.config, reading.config_source


def _none_in(files: list[str]) -> Problem:
    from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP, KINDS
    from fourleaf.model.problems import Problem, Severity

    return Problem(
        Severity.ERROR,
        ", ".join(files),
        KINDS[0],
        "",
        "",
        f"there is no {KINDS[0]} in the input",
        f"Give one with apiVersion: {API_VERSION} and kind: {KINDS[0]}, bare or in the "
        f"ConfigMap {CONFIG_MAP}.",
    )
