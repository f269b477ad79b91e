"""`fourleaf defrag`: running gangs move so that others find room together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.connection import refused
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.cluster.solver_process import solver
from fourleaf.cli.input.files import moment, need_terms, reading_of
from fourleaf.cli.input.plan_input import LOADING_SECONDS
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import (
    Answer,
    Apply,
    Context,
    DryRun,
    Kubeconfig,
    Now,
    OutputFormat,
    PlanFiles,
    SchedulerNamespace,
)
from fourleaf.cli.output.console import glyphs, print_set_aside, write
from fourleaf.cli.output.documents import tell
from fourleaf.cli.output.progress import Progress

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.protocol import Cluster
    from fourleaf.model.previews.defrag import DefragPreview
    from fourleaf.model.snapshot import Snapshot


def defrag(
    files: PlanFiles = None,
    moves: Annotated[
        int | None,
        typer.Option(
            "--moves", metavar="N", min=0, help="The most pods to move; as the config says, else."
        ),
    ] = None,
    dry_run: DryRun = False,
    apply: Apply = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Answer = OutputFormat.TABLE,
    now: Now = None,
) -> None:
    """Make room by moving gangs that may be moved.

    Only gangs with the annotation topology.scheduler/movable: "true" are, once they have run
    for defragmentation.minimumRuntimeSeconds. A dry run, which is the default, says what would
    move and which gangs could start then. With --apply the scheduler is asked to do it now,
    within the budgets of its config.

    Exit code: 0 fine, 2 bad input.
    """
    if dry_run and apply:
        raise typer.BadParameter("only one of them at a time", param_hint="--dry-run/--apply")
    if apply and files:
        raise typer.BadParameter("nothing can be changed in files", param_hint="-f")
    if apply and moves is not None:
        advice = "is for dry runs; the scheduler keeps to defragmentation.movesPerHour"
        raise typer.BadParameter(advice, param_hint="--moves")
    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    if apply:
        reach.ask(lambda cluster: ask(cluster, reach, datetime.now(UTC)))
        write("asked; the scheduler looks for moves now, or once none are under way")
        return
    answer, snapshot = _dry_run(reach, files, moves, moment(now))
    _show(answer, snapshot, output)


def _dry_run(
    reach: ClusterAccess, files: Sequence[str] | None, moves: int | None, now: float | None
) -> tuple[DefragPreview, Snapshot]:
    with solver() as client:
        from fourleaf.model.extensions import load
        from fourleaf.model.previews.defrag import gathered, gathering, movers
        from fourleaf.model.relocation import Budget

        log_to_stderr()
        reading = reading_of(reach, files, now)
        config = reading.snapshot.config
        need_terms(config, reading.config_source, load())
        print_set_aside(one for one in reading.problems if one.is_error)
        budget = config.spec.defragmentation.moves_per_hour if moves is None else moves
        ready, young = movers(reading)
        snapshot = gathering(reading, ready)
        with Progress("looking for moves") as progress:
            client.wait_until_ready(LOADING_SECONDS)
            plan = client.defragment(snapshot, Budget(budget), on_stage=progress.stage)
    return gathered(plan, ready, budget, young), snapshot


async def ask(cluster: Cluster, reach: ClusterAccess, when: datetime) -> None:
    """Ask the scheduler to defragment. Raises `BadInput` where its ConfigMap cannot be marked."""
    from fourleaf.k8s_bridge.cache.config_watcher import DEFRAGMENT
    from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
    from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.model.config.spec import CONFIG_MAP
    from fourleaf.model.problems import BadInput

    target = Target(await reach.home(cluster), CONFIG_MAP)
    stamp = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        await cluster.patch(CONFIG_MAPS, target, {"metadata": {"annotations": {DEFRAGMENT: stamp}}})
    except NotFound as error:
        message = "does not exist, and is where the scheduler is asked"
        advice = (
            "Create it with your config (`fourleaf config show` prints one under which nothing "
            "changes), or name its namespace with --scheduler-namespace."
        )
        raise bad_input(reach.name, message, advice, about=f"ConfigMap {target}") from error
    except ClusterError as error:
        raise BadInput([refused(error, reach.name, "patch", CONFIG_MAPS)]) from error


def _show(answer: DefragPreview, snapshot: Snapshot, output: OutputFormat) -> None:
    from fourleaf.cli.render.relocations import defrag_view
    from fourleaf.model.documents.relocation import defrag_document

    wide = output is OutputFormat.WIDE
    tell(
        lambda: defrag_document(answer),
        lambda: defrag_view(answer, snapshot.fabric, glyphs(), wide),
        output,
    )
