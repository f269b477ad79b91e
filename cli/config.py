"""`fourleaf config`: the config in force, whether it is valid, and what its weights mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cli import console
from cli.inputs import need_terms, open_files
from cli.options import MaybeFiles

if TYPE_CHECKING:
    from model.config import SchedulerConfig

app = typer.Typer(help="Show, validate or explain the config.", no_args_is_help=True)


@app.command()
def show(files: MaybeFiles = None) -> None:
    """Print the config in force, defaults included, as YAML."""
    from cli.text import plain, yaml_text

    config, source = load(files)
    console.write(
        f"# {source}\n" + yaml_text(plain(config.model_dump(by_alias=True, exclude_none=True)))
    )


@app.command()
def validate(files: MaybeFiles = None) -> None:
    """Check the config. Exit code: 0 it is valid, 2 it is not."""
    from model.extensions import load as load_extensions

    config, source = load(files)
    need_terms(config, source, load_extensions())
    console.write(f"{source}: valid")


@app.command()
def explain(files: MaybeFiles = None) -> None:
    """Print what every weight means and what it comes to for each kind of gang."""
    from rich.text import Text

    from cli.render.weights import weights_view

    config, source = load(files)
    console.show([Text(source, style="dim"), *weights_view(config.spec)])


def load(files: list[str] | None) -> tuple[SchedulerConfig, str]:
    """The config in `files` and where it stands. Raises `BadInput` for errors in it.

    Errors of other objects are none of its business: a cluster's dump may be given.
    """
    from model.config import CONFIG_MAP, KINDS
    from model.problems import BadInput
    from model.readers import read

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
    return reading.snapshot.config, reading.config_source
