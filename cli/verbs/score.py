"""`fourleaf score`: what each term says of a gang's place, and of the next best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from fourleaf.cli.answers import Scores
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.cluster.solver_process import solver
from fourleaf.cli.input.files import moment
from fourleaf.cli.input.gang_names import find_gang
from fourleaf.cli.input.plan_input import Input, planned
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import (
    Answer,
    Context,
    GangNamespace,
    Kubeconfig,
    Live,
    MaybeGang,
    Now,
    OutputFormat,
    PlanFiles,
    SchedulerNamespace,
    Seed,
    TimeLimit,
)
from fourleaf.cli.output.console import EXIT_OK, EXIT_PENDING, glyphs, print_set_aside
from fourleaf.cli.output.documents import tell
from fourleaf.cli.output.progress import Progress

if TYPE_CHECKING:
    from fourleaf.model.gang import GangKey
    from fourleaf.solver.process.client import SolverClient


def score(
    gang: MaybeGang = None,
    files: PlanFiles = None,
    live: Live = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    namespace: GangNamespace = None,
    output: Answer = OutputFormat.TABLE,
    now: Now = None,
    time_limit: TimeLimit = None,
    seed: Seed = None,
) -> None:
    """Take the scores of gangs apart, term by term.

    Each gang is valued where it would be placed now, or where it runs, and at its best place in
    other leaves; of gangs that run, only one that is named. Terms are valued as the solver does,
    each gang as if it were placed alone: what all gangs placed now earn, and the room kept for
    likely ones, is the objective of the plan.

    Exit code: 0 the gangs have places, 2 bad input, 3 some gang has to wait.
    """
    at = moment(now)
    with solver() as client:
        log_to_stderr()
        reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
        given = Input(reach, files or (), live, at, time_limit, seed)
        scores = scored(client, given, gang, namespace)
    _tell(scores, output)
    waits = any(one.waiting for one in scores.gangs)
    raise typer.Exit(EXIT_PENDING if waits else EXIT_OK)


def scored(client: SolverClient, given: Input, name: str | None, namespace: str | None) -> Scores:
    """Plan what is given, and appraise the gang `name`, or all of `namespace`.

    Raises `BadInput`.
    """
    from fourleaf.solver.explain.appraisal import appraise

    reading = given.read()
    snapshot = reading.snapshot
    wanted = None if name is None else find_gang(reading, name, namespace, given.where)
    print_set_aside(one for one in reading.problems if one.is_error)
    plan = planned(client, snapshot)
    with Progress("looking for the next best places"):
        standing = reading.standing((), True)
        extensions = client.extensions_in_force()

        def meant(key: GangKey) -> bool:
            return key == wanted if wanted else namespace in (None, key.namespace)

        found = appraise(snapshot, plan, standing, extensions, meant, thorough=wanted is not None)
        gangs = tuple(found)
    return Scores(snapshot, plan, gangs, wanted)


def _tell(scores: Scores, output: OutputFormat) -> None:
    from fourleaf.cli.output.score_json import scores_document
    from fourleaf.cli.render.score import gang_lines, list_lines

    lines = list_lines if scores.wanted is None else gang_lines
    wide = output is OutputFormat.WIDE
    tell(lambda: scores_document(scores), lambda: lines(scores, glyphs(), wide), output)
