"""`fourleaf config`: the config in force, whether it is valid, and what its weights mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.connection import refused
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.help import Subverbs, VerbHelp
from fourleaf.cli.input.files import need_terms, open_files
from fourleaf.cli.options import (
    Answer,
    Context,
    Kubeconfig,
    MaybeFiles,
    OutputFormat,
    SchedulerNamespace,
)
from fourleaf.cli.output import console
from fourleaf.cli.output.console import print_problems
from fourleaf.cli.output.documents import Document, for_people, tell, write_document
from fourleaf.cli.output.text import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fourleaf.cli.cluster.config_in_force import ConfigInForce
    from fourleaf.k8s_bridge.cluster.protocol import Cluster
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.readers import Source

Defaults = Annotated[
    bool, typer.Option("--defaults", help="The built-in defaults, whatever is in force.")
]

app = typer.Typer(cls=Subverbs, help="Show, validate or explain the config.", no_args_is_help=True)


@app.command(cls=VerbHelp)
def show(
    files: MaybeFiles = None,
    defaults: Defaults = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Answer = OutputFormat.YAML,
) -> None:
    """Print the config in force, defaults included, as YAML; a table has a line for each field."""
    config, source = configured(
        files, defaults, ClusterAccess(kubeconfig, context, scheduler_namespace)
    )
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


@app.command(cls=VerbHelp)
def validate(
    files: MaybeFiles = None,
    defaults: Defaults = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Answer = OutputFormat.TABLE,
) -> None:
    """Check the config. Exit code: 0 it is valid, 2 it is not.

    Of a cluster, it is the newest edit that counts, and what is in force without it is told.
    """
    from fourleaf.model.config.spec import API_VERSION
    from fourleaf.model.extensions import load as load_extensions

    if files or defaults:
        config, source = read_given(files, defaults)
    else:
        in_force = asked(ClusterAccess(kubeconfig, context, scheduler_namespace))
        need_valid(in_force)
        config, source = in_cluster(in_force)
    need_terms(config, source, load_extensions())
    if for_people(output):
        console.write(f"{source}: valid")
        return
    found = {"apiVersion": API_VERSION, "kind": "ConfigCheck", "source": source, "valid": True}
    write_document(found, output)


@app.command(cls=VerbHelp)
def explain(
    files: MaybeFiles = None,
    defaults: Defaults = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Answer = OutputFormat.TABLE,
) -> None:
    """Print what every weight means and what it comes to for each kind of gang."""
    from rich.text import Text

    from fourleaf.cli.render.weights import weights_document, weights_view

    config, source = configured(
        files, defaults, ClusterAccess(kubeconfig, context, scheduler_namespace)
    )
    tell(
        lambda: weights_document(config.spec, source),
        lambda: [Text(source, style="dim"), *weights_view(config.spec)],
        output,
    )


def configured(
    files: list[str] | None, defaults: bool, reach: ClusterAccess
) -> tuple[SchedulerConfig, str]:
    """The config that is asked for, and where it is from: `files`, the defaults, or the cluster.

    Warns where the newest edit in the cluster is not the one in force.
    """
    if files or defaults:
        return read_given(files, defaults)
    in_force = asked(reach)
    print_problems(in_force.warnings)
    return in_cluster(in_force)


def read_given(files: list[str] | None, defaults: bool) -> tuple[SchedulerConfig, str]:
    """The config in `files`, or the defaults; a usage error where both are asked for."""
    if files and defaults:
        raise typer.BadParameter("goes not with --defaults", param_hint="-f")
    return load(files)


def need_valid(in_force: ConfigInForce) -> None:
    """Raise `BadInput` where the newest edit in the cluster is not the config in force."""
    from fourleaf.model.problems import BadInput

    if in_force.problems:
        raise BadInput((*in_force.problems, *in_force.warnings))


def asked(reach: ClusterAccess) -> ConfigInForce:
    """The config in force in the cluster. Raises `BadInput` where it cannot be read."""
    from fourleaf.model.problems import BadInput

    try:
        return reach.ask(lambda cluster: _asked(cluster, reach))
    except BadInput as bad:
        advice = "Or name a file with -f, or ask for the built-in ones with --defaults."
        problems = [replace(one, advice=f"{one.advice} {advice}") for one in bad.problems]
        raise BadInput(problems) from bad


async def _asked(cluster: Cluster, reach: ClusterAccess) -> ConfigInForce:
    from fourleaf.cli.cluster.config_in_force import read_config_in_force
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
    from fourleaf.model.problems import BadInput

    try:
        return await read_config_in_force(cluster, reach.name, await reach.home(cluster))
    except ClusterError as error:
        raise BadInput([refused(error, reach.name, "get", CONFIG_MAPS)]) from error


def in_cluster(in_force: ConfigInForce) -> tuple[SchedulerConfig, str]:
    """What `in_force` says, and where it is from."""
    from fourleaf.model.readers import Source

    config, _ = _read([Source(in_force.source, objects=list(in_force.objects))])
    return config, in_force.source


def load(files: list[str] | None) -> tuple[SchedulerConfig, str]:
    """The config in `files` and where it stands, without files the defaults.

    Raises `BadInput` for errors in it, and where files are given that hold none.

    Errors of other objects are none of its business: a cluster's dump may be given.
    """
    from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP, KINDS
    from fourleaf.model.readers.config import BUILT_IN

    config, source = _read(open_files(files or ()))
    if files and source == BUILT_IN:
        advice = (
            f"Give one with apiVersion: {API_VERSION} and kind: {KINDS[0]}, bare or in the "
            f"ConfigMap {CONFIG_MAP}."
        )
        message = f"there is no {KINDS[0]} in the input"
        raise bad_input(", ".join(files), message, advice, about=KINDS[0])
    return config, source


def _read(sources: list[Source]) -> tuple[SchedulerConfig, str]:
    from fourleaf.model.config.spec import CONFIG_MAP, KINDS
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers import read

    reading = read(sources, strict=False)
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
    print_problems(one for one in reading.problems if one.object.startswith(ours))
    return reading.snapshot.config, reading.config_source
