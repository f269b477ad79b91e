"""`fourleaf drain`: nodes are emptied, and no gang dies of it that could live elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli import completion
from fourleaf.cli.cluster.kept_places import KeptPlaces, kept_places, would_be_lost
from fourleaf.cli.cluster.read_cluster import ClusterAccess, read_live
from fourleaf.cli.cluster.solver_process import solver
from fourleaf.cli.input.files import need_terms, reading_of
from fourleaf.cli.input.plan_input import LOADING_SECONDS
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import (
    Answer,
    Apply,
    Context,
    DryRun,
    Kubeconfig,
    OutputFormat,
    PlanFiles,
    SchedulerNamespace,
)
from fourleaf.cli.output.console import (
    EXIT_OK,
    EXIT_PENDING,
    glyphs,
    print_problems,
    print_set_aside,
    write,
)
from fourleaf.cli.output.documents import for_people, tell, write_document
from fourleaf.cli.output.progress import Progress

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import Live
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.model.previews.drain import Drained
    from fourleaf.model.problems import Problem
    from fourleaf.model.snapshot import Snapshot


def drain(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="NODE|LEAF",
            help="Nodes, or leaves or spines whole.",
            autocompletion=completion.places,
        ),
    ],
    files: PlanFiles = None,
    dry_run: DryRun = False,
    apply: Apply = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Let the nodes be used again, where they were drained.")
    ] = False,
    end_jobs: Annotated[
        bool,
        typer.Option("--end-jobs", help="Drain also where Jobs end of it, as evictions count."),
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Answer = OutputFormat.TABLE,
) -> None:
    """Empty nodes, with the fewest moves.

    A dry run, which is the default, says which pods would go where, and which gangs would
    stay. With --apply the nodes are cordoned and marked, and the scheduler moves the
    gangs, as fast as their disruption budgets allow. Pods of other schedulers stay, and so do
    gangs with pods that no controller would make anew.

    Each evicted pod of a Job counts as failed. The scheduler leaves a gang where its Job would
    end of it, and --apply refuses, unless --end-jobs says that Jobs with pods there may end.

    Exit code: 0 fine, 2 bad input, 3 in a dry run some gang would find no place, or stay, or lose
    places that are kept for it, or its Job end. --apply ends with 0 once the nodes are marked,
    before the scheduler has moved any gang.
    """
    if dry_run + apply + undo > 1:
        raise typer.BadParameter(
            "only one of them at a time", param_hint="--dry-run/--apply/--undo"
        )
    if files and (apply or undo):
        raise typer.BadParameter("nothing can be changed in files", param_hint="-f")
    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    if apply or undo:
        changed = reach.ask(lambda cluster: _changed(cluster, reach, places, undo, end_jobs))
        _show_changed(changed, undo, output)
        return
    answer, snapshot = _dry_run(reach, files, places, end_jobs)
    _show(answer, snapshot, output)
    raise typer.Exit(EXIT_OK if answer.whole else EXIT_PENDING)


def _dry_run(
    reach: ClusterAccess, files: Sequence[str] | None, places: Sequence[str], end_jobs: bool
) -> tuple[Drained, Snapshot]:
    with solver() as client:
        from fourleaf.model.extensions import load
        from fourleaf.model.previews.drain import drained, emptied
        from fourleaf.model.previews.places import nodes_of

        log_to_stderr()
        reading = reading_of(reach, files)
        need_terms(reading.snapshot.config, reading.config_source, load())
        nodes = nodes_of(reading.snapshot.fabric, places, "the input" if files else reach.name)
        print_set_aside(one for one in reading.problems if one.is_error)
        snapshot = emptied(reading, nodes, end_jobs)
        with Progress("looking for other places") as progress:
            client.wait_until_ready(LOADING_SECONDS)
            plan = client.repair(snapshot, on_stage=progress.stage)
    answer = drained(reading, nodes, snapshot, plan)
    if not files:
        kept = reach.ask(lambda cluster: kept_places(cluster, reach, nodes))
        answer = replace(answer, promised=_as_read(kept))
    return answer, snapshot


async def _changed(
    cluster: Cluster, reach: ClusterAccess, places: Sequence[str], undo: bool, end_jobs: bool
) -> tuple[str, ...]:
    live = await read_live(cluster, reach)
    print_problems(live.config.warnings)
    if not undo and not end_jobs:
        need_lasting_jobs(live, places, reach.name)
    if not undo:
        from fourleaf.model.previews.places import nodes_of

        nodes = nodes_of(live.reading().snapshot.fabric, places, reach.name)
        kept = _as_read(await kept_places(cluster, reach, nodes))
        print_problems(would_be_lost(kept, reach.name))
    return await mark(cluster, reach, live, places, undo, end_jobs)


def _as_read(kept: KeptPlaces | Problem) -> KeptPlaces:
    """What is known of kept places, none where they may not be read, which is printed."""
    from fourleaf.model.problems import Problem

    if isinstance(kept, Problem):
        print_problems([kept])
        return {}
    return kept


def need_lasting_jobs(live: Live, places: Sequence[str], where: str) -> None:
    """Raise `BadInput` where a Job would end if its pods on the nodes were evicted.

    Pods elsewhere, which the scheduler may move too, are for the dry run to tell of.
    """
    from fourleaf.model.previews.ended_jobs import end_problem, ended_jobs
    from fourleaf.model.previews.places import nodes_of
    from fourleaf.model.problems import BadInput, Severity

    reading = live.reading()
    nodes = set(nodes_of(reading.snapshot.fabric, places, where))
    running = reading.snapshot.running
    there = ((pod.namespace, pod.name) for pod in running if pod.ours and pod.node in nodes)
    ended = ended_jobs(reading, there)
    if ended:
        raise BadInput(end_problem(where, one, Severity.ERROR) for one in ended)


async def mark(
    cluster: Cluster,
    reach: ClusterAccess,
    live: Live,
    places: Sequence[str],
    undo: bool,
    end_jobs: bool = False,
) -> tuple[str, ...]:
    """Cordon and mark the nodes; or let those that were marked be used again. Which they are.

    Jobs with pods there may end of it where `end_jobs`.
    """
    from fourleaf.cli.cluster.patches import patch_all
    from fourleaf.k8s_bridge.cluster.kinds import NODES
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.k8s_bridge.relocation.evictions.drain_marks import END_JOBS
    from fourleaf.model.previews.places import nodes_of
    from fourleaf.model.readers.objects.annotations import DRAIN

    nodes = nodes_of(live.reading().snapshot.fabric, places, reach.name)
    bodies = {
        body["metadata"]["name"]: body["metadata"]
        for body in live.objects
        if body["kind"] == "Node"
    }
    if undo:
        nodes = tuple(name for name in nodes if DRAIN in (bodies[name].get("annotations") or {}))
    targets = [Target("", name, bodies[name].get("uid", "")) for name in nodes]
    marks = {DRAIN: None if undo else "true", END_JOBS: "true" if end_jobs and not undo else None}
    said: Body = {"metadata": {"annotations": marks}}
    patch = {**said, "spec": {"unschedulable": None if undo else True}}
    await patch_all(cluster, reach, NODES, targets, patch)
    return nodes


def _show_changed(nodes: tuple[str, ...], undo: bool, output: OutputFormat) -> None:
    from fourleaf.model.config.spec import API_VERSION

    if for_people(output):
        count = f"{len(nodes)} node" + ("" if len(nodes) == 1 else "s")
        if undo:
            said = f"{count} may be used again" if nodes else "none of them was being drained"
        else:
            said = f"{count} cordoned and marked"
        write(said + (f": {', '.join(nodes)}" if nodes else ""))
        if not undo:
            write("The scheduler moves the gangs there that have another place and may leave. The")
            write("same without --apply says which stay, `fourleaf why GANG` what becomes of one.")
        return
    document = {"kind": "Drain", "nodes": list(nodes), "drained": not undo}
    write_document({"apiVersion": API_VERSION, **document}, output)


def _show(answer: Drained, snapshot: Snapshot, output: OutputFormat) -> None:
    from fourleaf.cli.render.relocations import drain_view
    from fourleaf.model.documents.relocation import drain_document

    tell(
        lambda: drain_document(answer),
        lambda: drain_view(answer, snapshot.fabric, glyphs()),
        output,
    )
