"""What would be, if: manifests added, nodes closed, weights changed. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from fourleaf.dashboard.emptied_nodes import afterwards, emptying
from fourleaf.dashboard.solver_pool import SolverPool
from fourleaf.dashboard.sources.source import ClusterMoment, ClusterSource
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.gang import PlaceView, WhyView, closed, place_view, why_view
from fourleaf.dashboard.views.moves_picture import MovesPicture, moves_picture, with_placed
from fourleaf.model.config.spec import BUILT_IN_TERMS
from fourleaf.model.documents.relocation import drain_document
from fourleaf.model.extensions import Extensions, unknown_weights
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.previews.places import nodes_of
from fourleaf.model.problems import BadInput, Problem, Severity
from fourleaf.model.readers import Source
from fourleaf.model.scores.comparison import PlannedSnapshot
from fourleaf.model.snapshot import Snapshot

MOST_MANIFEST_CHARACTERS = 256 * 1024
"""Characters of a manifest."""
MOST_PODS = 20_000
"""Pods that may wait, once everything is expanded."""
PASTED = "what you pasted"

Name = Annotated[str, Field(min_length=1, max_length=253)]
Weight = Annotated[Decimal, Field(ge=0, le=1000, allow_inf_nan=False)]


class Question(View):
    """What to try. `close` are nodes, leaves or spines; `weights` replace those of the config.

    `empty`: gangs on what is closed go elsewhere first; without it they stay.
    """

    manifest: Annotated[str, Field(max_length=MOST_MANIFEST_CHARACTERS)] = ""
    close: Annotated[tuple[Name, ...], Field(max_length=1000)] = ()
    empty: bool = False
    weights: Annotated[dict[Name, Weight], Field(max_length=32)] = Field(default_factory=dict)


class Difference(View):
    """A gang that waits, and what planning comes to: as things are, and as asked.

    `before` is None where the gang is new, and where it `runs` and would start over.
    """

    namespace: str
    name: str
    is_new: bool
    runs: bool
    before: PlaceView | None
    after: PlaceView | None
    why: WhyView | None


class Proof(View):
    """What is proven of a plan."""

    status: str
    objective: int
    bound: int
    gap: float | None
    seconds: float
    note: str


class TriedView(View):
    """The answer: every gang that waits, and what is proven of the plan as asked.

    `emptied` is what `fourleaf drain --dry-run -o json` says, None where nothing is emptied.
    """

    closed: tuple[str, ...]
    emptied: dict[str, Any] | None
    placed: int
    waiting: int
    proof: Proof
    gangs: tuple[Difference, ...]


async def tried(
    source: ClusterSource,
    moment: ClusterMoment,
    pool: SolverPool,
    question: Question,
    extensions: Extensions,
) -> tuple[TriedView, MovesPicture | None]:
    """Plan `moment` as it is and as asked. Raises `BadInput` and `BusyError`."""
    need_terms(question.weights, extensions)
    names = nodes_of(moment.snapshot.fabric, question.close, source.name) if question.close else ()
    snapshot = moment.snapshot
    if question.manifest.strip():
        pasted = Source(PASTED, question.manifest.encode())
        snapshot = await pool.read(lambda: source.beside([pasted]))
        need_few(snapshot)
    changed = weighted(closed(snapshot, names) if names else snapshot, question.weights)
    emptied = None
    if question.empty and names:
        asked = replace(moment, snapshot=weighted(moment.snapshot, question.weights))
        gone = await emptying(asked, pool, names)
        changed, emptied = afterwards(changed, gone), drain_document(gone.drained)
    before = PlannedSnapshot(moment.snapshot, await pool.plan(moment.snapshot))
    after = PlannedSnapshot(changed, await pool.plan(changed))
    was, will_be = (with_placed(one.snapshot, one.plan.placements) for one in (before, after))
    return _answer(before, after, names, emptied), moves_picture(moment, was, will_be)


def weighted(snapshot: Snapshot, weights: Mapping[str, Decimal]) -> Snapshot:
    """`snapshot` with `weights` in place of those of the config. Raises `BadInput`."""
    if not weights:
        return snapshot
    config = snapshot.config
    new = {**config.spec.scoring_weights, **weights}
    if not any(weight > 0 for weight in new.values()):
        advice = "Leave at least one weight above zero."
        raise BadInput([_problem("weights", "0", "are all zero", advice)])
    spec = config.spec.model_copy(update={"scoring_weights": new})
    return replace(snapshot, config=config.model_copy(update={"spec": spec}))


def need_terms(weights: Mapping[str, Decimal], extensions: Extensions) -> None:
    """Raise `BadInput` for weights of unknown terms."""
    advice = f"Use {', '.join(BUILT_IN_TERMS)}."
    message = "is a weight for a term that does not exist"
    problems = [
        _problem(f"weights.{name}", str(weights[name]), message, advice)
        for name in unknown_weights(weights, extensions)
    ]
    if problems:
        raise BadInput(problems)


def need_few(snapshot: Snapshot) -> None:
    """Raise `BadInput` where more pods wait than are planned here."""
    pods = sum(len(role.pods) for gang in snapshot.gangs for role in gang.roles)
    if pods > MOST_PODS:
        advice = "Ask for fewer, or use `fourleaf plan --live -f`."
        message = f"more than {MOST_PODS} pods would wait"
        raise BadInput([_problem("manifest", str(pods), message, advice)])


def _problem(field: str, value: str, message: str, advice: str) -> Problem:
    return Problem(Severity.ERROR, PASTED, "", field, value, message, advice)


def _answer(
    before: PlannedSnapshot,
    after: PlannedSnapshot,
    names: tuple[str, ...],
    emptied: dict[str, Any] | None,
) -> TriedView:
    plan = after.plan
    waits = {gang.key for gang in before.snapshot.gangs}
    runs = {pod.gang for pod in before.snapshot.running} - waits
    was, now = _places(before), _places(after)
    why = {one.gang: one for one in plan.waiting}
    differences = tuple(
        Difference(
            namespace=key.namespace,
            name=key.name,
            is_new=key not in waits and key not in runs,
            runs=key in runs,
            before=was.get(key),
            after=now.get(key),
            why=why_view(why[key]) if key in why else None,
        )
        for key in (*now, *why)
    )
    return TriedView(
        closed=names,
        emptied=emptied,
        placed=len(plan.placements),
        waiting=len(plan.waiting),
        proof=proof_view(plan),
        gangs=differences,
    )


def _places(planned: PlannedSnapshot) -> dict[GangKey, PlaceView]:
    placements = planned.plan.placements
    return {one.gang: place_view(planned.snapshot, one) for one in placements}


def proof_view(plan: Plan) -> Proof:
    """What is proven of `plan`."""
    return Proof(
        status=plan.status.value,
        objective=plan.objective,
        bound=plan.bound,
        gap=plan.gap,
        seconds=round(plan.seconds_build + plan.seconds_solve, 3),
        note=plan.note,
    )
