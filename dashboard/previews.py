"""Dry runs of a drain and of a defragmentation, by the planner that the verbs ask too."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from fourleaf.dashboard.emptied_nodes import afterwards, emptying
from fourleaf.dashboard.solver_pool import SolverPool
from fourleaf.dashboard.sources.source import ClusterMoment, ClusterSource
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.gang import closed
from fourleaf.dashboard.views.moves_picture import (
    MovesPicture,
    moves_picture,
    with_moved,
    with_placed,
)
from fourleaf.dashboard.what_if import Name
from fourleaf.model.documents.relocation import defrag_document, drain_document
from fourleaf.model.previews.defrag import gathered, gathering, movers
from fourleaf.model.previews.places import nodes_of

Document = dict[str, Any]


class DrainQuestion(View):
    """What to empty: nodes, leaves or spines."""

    places: Annotated[tuple[Name, ...], Field(min_length=1, max_length=1000)]


class DefragQuestion(View):
    """The most pods to move; None for what the config allows in an hour."""

    moves: Annotated[int, Field(ge=0, le=100_000)] | None = None


async def drain_preview(
    source: ClusterSource, moment: ClusterMoment, pool: SolverPool, question: DrainQuestion
) -> tuple[Document, MovesPicture | None]:
    """Say what `fourleaf drain --dry-run -o json` says. Raises `BadInput` and `BusyError`."""
    nodes = nodes_of(moment.snapshot.fabric, question.places, source.name)
    gone = await emptying(moment, pool, nodes)
    after = closed(afterwards(moment.snapshot, gone), nodes)
    return drain_document(gone.drained), moves_picture(moment, moment.snapshot, after)


async def defrag_preview(
    moment: ClusterMoment, pool: SolverPool, question: DefragQuestion
) -> tuple[Document, MovesPicture | None]:
    """Say what `fourleaf defrag --dry-run -o json` says. Raises `BusyError`."""
    spec = moment.snapshot.config.spec.defragmentation
    budget = spec.moves_per_hour if question.moves is None else question.moves
    ready, young = movers(moment)
    plan = await pool.defragment(gathering(moment, ready), budget)
    targets = {(move.namespace, move.pod): move.target for move in plan.moves}
    after = with_placed(with_moved(moment.snapshot, targets), plan.placements)
    told = defrag_document(gathered(plan, ready, budget, young))
    return told, moves_picture(moment, moment.snapshot, after)
