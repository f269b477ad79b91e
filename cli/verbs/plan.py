"""`fourleaf plan`: where every waiting gang would go, and why the others must wait."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli import completion
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.cluster.solver_process import solver
from fourleaf.cli.input.files import moment
from fourleaf.cli.input.plan_input import Input, planned
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import (
    Context,
    GangNamespace,
    Interval,
    Kubeconfig,
    Live,
    Now,
    Output,
    OutputFormat,
    PlanFiles,
    SchedulerNamespace,
    Seed,
    TimeLimit,
    Watch,
)
from fourleaf.cli.output.console import EXIT_OK, EXIT_PENDING, glyphs, out, print_set_aside
from fourleaf.cli.output.documents import Document, tell
from fourleaf.cli.output.watch import WatchedAnswer, need_anew, present

if TYPE_CHECKING:
    from fourleaf.model.documents.plan import Timings
    from fourleaf.model.plan import Plan
    from fourleaf.model.snapshot import Snapshot
    from fourleaf.solver.process.client import SolverClient


def plan(
    files: PlanFiles = None,
    live: Live = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    namespace: GangNamespace = None,
    output: Output = OutputFormat.TABLE,
    now: Now = None,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    what_if: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|TERM=WEIGHT,...",
            help="Compare with the plan under another config, under a part of one, or other "
            "weights.",
            autocompletion=completion.weights,
        ),
    ] = None,
    watch: Watch = False,
    interval: Interval = 5.0,
    timings: Annotated[
        bool, typer.Option(help="Measurements in JSON and YAML; without them they are 0.")
    ] = True,
) -> None:
    """Plan the gangs that wait.

    Takes what runs and what waits from files; without any, from the cluster of the
    kubeconfig. Changes nothing anywhere. With -n, all gangs are planned, and those of the
    namespace shown.

    --what-if makes a second plan and shows what would be otherwise, and why. A SchedulerConfig
    counts in place of the config; a file without kind holds what changes of it: fields of its
    spec, or bare weights.

    Exit code: 0 all gangs are placed, 2 bad input, 3 some gang has to wait.
    """
    need_anew(files, watch)
    if watch and what_if:
        raise typer.BadParameter("goes not with --what-if", param_hint="--watch")
    if namespace and what_if:
        raise typer.BadParameter("goes not with --what-if", param_hint="--namespace")
    at = moment(now)
    # One answer and out: looking for garbage among a million live objects only takes time.
    gc.disable()
    with solver() as client:
        log_to_stderr()
        reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
        given = Input(reach, files or (), live, at, time_limit, seed)
        if what_if:
            from fourleaf.cli.verbs.what_if import compared, tell_comparison

            comparison = compared(client, given, what_if)
            tell_comparison(comparison, output)
            waits = comparison.after.plan.waiting
            raise typer.Exit(EXIT_PENDING if waits else EXIT_OK)
        view = WatchedAnswer(
            lambda: _planned(client, given, timings and not watch, namespace),
            lambda answer: _tell(answer, output),
            lambda answer: EXIT_PENDING if answer.shown.waiting else EXIT_OK,
            _matters,
        )
        present(view, output, watch, interval)


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """A plan, what it is for, and how long it took where that is to be told.

    `namespace`: the one whose gangs are shown; None for all.
    """

    snapshot: Snapshot
    plan: Plan
    timings: Timings | None
    namespace: str | None

    @property
    def shown(self) -> Plan:
        """The plan without gangs that are not shown."""
        if self.namespace is None:
            return self.plan
        return replace(
            self.plan,
            placements=tuple(p for p in self.plan.placements if self.shows(p.gang.namespace)),
            waiting=tuple(one for one in self.plan.waiting if self.shows(one.gang.namespace)),
            moves=tuple(move for move in self.plan.moves if self.shows(move.namespace)),
        )

    def shows(self, namespace: str) -> bool:
        """Whether gangs of `namespace` are shown."""
        return self.namespace in (None, namespace)

    def document(self) -> Document:
        """What is shown, as JSON and YAML have it. Devices depend on gangs that are not, too."""
        from fourleaf.model.documents.plan import to_document

        whole = to_document(self.snapshot, self.plan, self.timings)
        for part in ("gangs", "moves"):
            whole[part] = [one for one in whole[part] if self.shows(one["namespace"])]
        return whole


def _planned(
    client: SolverClient, given: Input, timings: bool, namespace: str | None
) -> PlanAnswer:
    from fourleaf.model.documents.plan import Timings

    began = time.perf_counter()
    reading = given.read()
    print_set_aside(reading.problems)
    read = time.perf_counter() - began
    plan = planned(client, reading.snapshot)
    total = time.perf_counter() - began
    told = Timings(read, total) if timings else None
    return PlanAnswer(reading.snapshot, plan, told, namespace)


def _tell(answer: PlanAnswer, output: OutputFormat) -> None:
    from fourleaf.cli.render.plan_view import plan_view

    wide, shown = output is OutputFormat.WIDE, answer.shown
    tell(
        answer.document,
        lambda: plan_view(answer.snapshot, shown, out().width, glyphs(), wide, answer.namespace),
        output,
    )


def _matters(answer: PlanAnswer) -> object:
    """Who goes where, and who waits why."""
    plan = answer.shown
    return {(one.gang, one.pods) for one in plan.placements}, set(plan.waiting)
