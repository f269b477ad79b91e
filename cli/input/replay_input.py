"""What `fourleaf replay` replays: traces, snapshots, fabrics and configs, or why not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.input.files import need_nodes, need_terms, read_files
from fourleaf.cli.output.console import print_set_aside

if TYPE_CHECKING:
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.fabric import Fabric
    from fourleaf.model.problems import BadInput
    from fourleaf.simulator.options import ReplayOptions
    from fourleaf.simulator.readers.expected_ends import ExpectedDurations
    from fourleaf.simulator.trace import Sizes, Trace

FABRIC_OF = {"kalos": "lingjun", "philly": "regular:1000"}
"""The fabric of a replay that names none; others bring a fabric of their own name."""


def need_one_of(given: Sequence[str], known: Sequence[str], option: str) -> None:
    """A usage error where one of `given` is not `known`."""
    for name in given:
        if name not in known:
            raise typer.BadParameter(f"'{name}'; there are {', '.join(known)}", param_hint=option)


def need_trace(name: str) -> None:
    """A usage error where `name` is neither a trace nor a path."""
    from fourleaf.simulator.readers.catalogue import TRACES, is_trace

    if not is_trace(name):
        known = ", ".join(TRACES)
        said = f"'{name}'; there are {known}, and folders of `fourleaf record`"
        raise typer.BadParameter(said, param_hint="TRACE")


def need_none(**given: object) -> None:
    """A usage error for what shapes a trace, where a snapshot is replayed as it is."""
    for name, value in given.items():
        if value is not None:
            hint = name if name.isupper() else f"--{name}"
            said = "does not go with -f: a snapshot has its own gangs and nodes; leave one out"
            raise typer.BadParameter(said, param_hint=hint)


def fabric_of(trace: str, name: str | None) -> Fabric:
    """The fabric to replay on. Raises `BadInput` where its data is missing."""
    from fourleaf.simulator.readers.catalogue import fabric
    from fourleaf.simulator.readers.folder import NoData

    need_trace(trace)
    try:
        return fabric(name or FABRIC_OF.get(trace, trace))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fabric") from error
    except NoData as error:
        raise _refused(error) from error


def trace_of(
    name: str, days: int | None, sizes: Sizes, load: float | None, ground: Fabric
) -> Trace:
    """The jobs to replay. Raises `BadInput` where their file is missing."""
    from fourleaf.simulator.readers import catalogue
    from fourleaf.simulator.readers.folder import NoData
    from fourleaf.simulator.trace import DAY

    nodes = [node.allocatable.gpus for node in ground.nodes.values()]
    try:
        trace = catalogue.trace(name)
    except NoData as error:
        raise _refused(error) from error
    if days is not None:
        trace = trace.busiest(days * DAY)
    trace = trace.sized(sizes, max(nodes))
    if load is not None:
        try:
            trace = trace.at_load(load / 100, sum(nodes))
        except ValueError as error:
            said = f"{error} with the {len(trace.jobs)} gangs of '{name}'; try a smaller load"
            raise typer.BadParameter(said, param_hint="--load") from error
    return trace


def durations_of(path: Path) -> ExpectedDurations:
    """How long gangs ran by the recording at `path`. Raises `BadInput`."""
    from fourleaf.simulator.readers.expected_ends import ExpectedDurations
    from fourleaf.simulator.readers.folder import NoData
    from fourleaf.simulator.readers.recorded import recording

    try:
        return ExpectedDurations(recording(path))
    except NoData as error:
        raise _refused(error) from error


def need_fitting(asked: Sequence[ReplayOptions]) -> None:
    """Raise `BadInput` where a policy cannot do what is asked of it."""
    from fourleaf.simulator.options import NoRule, need_rule

    try:
        for one in asked:
            need_rule(one)
    except NoRule as error:
        raise _refused(error) from error


def _refused(error: Exception) -> BadInput:
    """Bad input from a message of which the second line is the advice."""
    message, _, advice = str(error).partition("\n")
    return bad_input("replay", message, advice)


def snapshot_of(files: Sequence[str], duration: int) -> tuple[Trace, Fabric, SchedulerConfig]:
    """What is in the files of a snapshot, and its config. Raises `BadInput`."""
    from fourleaf.simulator.readers import snapshot as reader

    reading = read_files(files)
    need_nodes(reading, files, gpus=True)
    print_set_aside(reading.problems)
    snapshot = reading.snapshot
    return reader.trace_of(snapshot, duration), snapshot.fabric, snapshot.config


def read_config(path: str | None, otherwise: SchedulerConfig | None = None) -> SchedulerConfig:
    """The config in the file `path`, without one `otherwise`, or the default. Raises `BadInput`."""
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.extensions import Extensions

    if path is None:
        return otherwise or SchedulerConfig()
    reading = read_files([path])
    need_terms(reading.snapshot.config, reading.config_source, Extensions())
    return reading.snapshot.config


def config_of(
    path: str | None, found: SchedulerConfig | None, patience: float, slack: int | None
) -> SchedulerConfig:
    """The config in `path`, else the one found, with the patience of replays in seconds.

    Raises `BadInput`.
    """
    config = read_config(path, found)
    spec = config.spec
    solver = spec.solver.model_copy(update={"time_limit_seconds": patience})
    changes: dict[str, object] = {"solver": solver}
    if slack is not None:
        changes["topology"] = spec.topology.model_copy(update={"window_slack": slack})
    return config.model_copy(update={"spec": spec.model_copy(update=changes)})
