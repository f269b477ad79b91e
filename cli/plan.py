"""`fourleaf plan`: where every waiting gang would go, and why the others must wait."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.console import EXIT_OK, EXIT_PENDING, glyphs, out, print_problems, show, write
from cli.inputs import moment, need_nodes, need_terms, open_files, read_files
from cli.options import (
    ConfigNamespace,
    Context,
    Kubeconfig,
    Now,
    Output,
    OutputFormat,
    PlanFiles,
)

if TYPE_CHECKING:
    from cli.live import Reach
    from model.documents.plan import Timings
    from model.plan import Plan
    from model.readers import Reading
    from model.snapshot import Snapshot


def plan(
    files: PlanFiles = None,
    live: Annotated[
        bool, typer.Option("--live", help="Add the manifests of -f to what the cluster holds now.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    config_namespace: ConfigNamespace = "kube-system",
    output: Output = OutputFormat.TABLE,
    now: Now = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0.01, max=3600, help="Seconds to solve, instead of the config's."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=2147483647, help="Seed, instead of the config's."),
    ] = None,
    timings: Annotated[
        bool, typer.Option(help="Measurements in JSON and YAML; without them they are 0.")
    ] = True,
) -> None:
    """Plan the gangs that wait.

    Takes what runs and what waits from files; without any, from the cluster of the
    kubeconfig. Changes nothing anywhere.

    Exit code: 0 all gangs are placed, 2 bad input, 3 some gang has to wait.
    """
    began = time.perf_counter()
    at = moment(now)
    from cli.live import Reach
    from cli.logs import log_to_stderr
    from cli.progress import Progress
    from model.extensions import load
    from solver.client import SolverClient

    log_to_stderr()
    # One answer and out: looking for garbage among a million live objects only takes time.
    gc.disable()
    # The solver process loads OR-tools while this one reads the input.
    with SolverClient() as client:
        if files and not live:
            reading = read_files(files, at)
            need_nodes(reading.snapshot, files)
        else:
            reading = _of_cluster(Reach(kubeconfig, context, config_namespace), files or (), at)
        need_terms(reading.snapshot.config, reading.config_source, load())
        snapshot = with_solver_options(reading.snapshot, time_limit, seed)
        print_problems(reading.problems)
        read = time.perf_counter() - began
        with Progress("loading the solver, then solving") as progress:
            # The time limit is for solving: on a busy machine, loading must not use it up.
            client.wait_until_ready()
            answer = client.plan(snapshot, on_stage=progress.stage)
    from model.documents.plan import Timings

    total = time.perf_counter() - began
    _show(snapshot, answer, output, Timings(read, total) if timings else None)
    raise typer.Exit(EXIT_PENDING if answer.waiting else EXIT_OK)


def _of_cluster(reach: Reach, files: Sequence[str], at: float | None) -> Reading:
    """What the cluster holds, and `files` on top of that. Raises `BadInput`."""
    from cli.live import observe
    from model.problems import BadInput

    given = open_files(files)
    try:
        live = observe(reach)
    except BadInput as bad:
        if files:
            raise
        advice = "Or plan manifests, with -f."
        problems = [replace(one, advice=f"{one.advice} {advice}") for one in bad.problems]
        raise BadInput(problems) from bad
    return (live if at is None else replace(live, now=at)).reading(given)


def with_solver_options(snapshot: Snapshot, time_limit: float | None, seed: int | None) -> Snapshot:
    """`snapshot` with the solver's limits replaced by those of the command line."""
    changes: dict[str, Any] = {}
    if time_limit is not None:
        changes["time_limit_seconds"] = time_limit
    if seed is not None:
        changes["seed"] = seed
    if not changes:
        return snapshot
    config = snapshot.config
    solver = config.spec.solver.model_copy(update=changes)
    spec = config.spec.model_copy(update={"solver": solver})
    return replace(snapshot, config=config.model_copy(update={"spec": spec}))


def _show(snapshot: Snapshot, plan: Plan, output: OutputFormat, timings: Timings | None) -> None:
    if output in (OutputFormat.TABLE, OutputFormat.WIDE):
        from cli.render.plan_view import plan_view

        show(plan_view(snapshot, plan, out().width, glyphs(), output is OutputFormat.WIDE))
        return
    from cli.text import json_text, yaml_text
    from model.documents.plan import to_document

    document = to_document(snapshot, plan, timings)
    write(json_text(document) if output is OutputFormat.JSON else yaml_text(document))
