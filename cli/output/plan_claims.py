"""What the document of a plan says beyond the plan: every number that follows from the rest.

The validator judges the plan. These are the figures that `plan -o json` derives from it: the
score and the devices of each gang, the bound and the gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourleaf.model.plan import Plan
    from fourleaf.model.snapshot import Snapshot
    from fourleaf.model.validator import Breach

Document = Mapping[str, Any]


def claim_breaches(
    snapshot: Snapshot, plan: Plan, stated: Document, breaches: Sequence[Breach]
) -> tuple[Breach, ...]:
    """Figures of the document `stated` that do not follow from `plan`, which was read from it.

    A figure that the document leaves out claims nothing. Devices and GPUs are compared where
    `breaches`, what the validator found, leave every pod a node that has room for it.
    """
    from fourleaf.model.documents.plan import to_document
    from fourleaf.model.validator import Law

    found = list(_bound_breaches(plan, stated, snapshot.config.spec.solver.gap))
    found += _score_breaches(plan, stated)
    unsound = {Law.KNOWN, Law.ACCOUNTED, Law.WHOLE, Law.ROOM, Law.DEVICES}
    if not any(breach.law in unsound for breach in breaches):
        found += _device_breaches(plan, stated, to_document(snapshot, plan))
    return tuple(found)


def _bound_breaches(plan: Plan, stated: Document, allowed: float) -> Iterator[Breach]:
    """What bound and gap say too much, where a plan that is proven may leave a gap of `allowed`."""
    from fourleaf.model.plan import PlanStatus
    from fourleaf.model.validator import Breach, Law

    bound = stated.get("bound")
    most = max([plan.objective, *(s.bound for s in plan.stages if s.name == "where")])
    if bound is not None and bound < plan.objective:
        detail = f"the bound is {bound}, below the objective {plan.objective}"
        yield Breach(Law.OBJECTIVE, None, "bound", detail)
    elif bound is not None and plan.status is PlanStatus.OPTIMAL and bound > most:
        detail = f"is said to be {plan.status}, but the bound {bound} is above what was proven"
        yield Breach(Law.OBJECTIVE, None, "bound", f"{detail}, {most}")
    if plan.status is PlanStatus.OPTIMAL and not all(stage.proven for stage in plan.stages):
        names = ", ".join(stage.name for stage in plan.stages if not stage.proven)
        detail = f"is said to be {plan.status}, but these are not proven: {names}"
        yield Breach(Law.OBJECTIVE, None, "stages", detail)
    elif plan.status is PlanStatus.OPTIMAL and (plan.gap or 0.0) > _rounded_up(allowed):
        detail = f"is said to be {plan.status}, but leaves {plan.gap}, more than solver.gap"
        yield Breach(Law.OBJECTIVE, None, "gap", f"{detail}, {allowed}")
    gap = stated.get("gap")
    if gap is not None and gap != plan.gap:
        left = "a greedy plan has none" if plan.gap is None else f"the stages leave {plan.gap}"
        detail = f"says {gap}, {left}"
        yield Breach(Law.OBJECTIVE, None, "gap", detail)


def _rounded_up(share: float) -> float:
    """As the gap of a plan is: to millionths, and those of a share that is hardly above."""
    return math.ceil(share * 10**6 + 1) / 10**6


def _score_breaches(plan: Plan, stated: Document) -> Iterator[Breach]:
    from fourleaf.model.validator import Breach, Law

    placed = [gang for gang in stated["gangs"] if gang["placed"]]
    for placement, gang in zip(plan.placements, placed, strict=True):
        score = gang.get("score")
        if score is not None and score != placement.score:
            detail = f"says {score}, its terms add up to {placement.score}"
            yield Breach(Law.TERMS, placement.gang, "score", detail)


def _device_breaches(plan: Plan, stated: Document, right: Document) -> Iterator[Breach]:
    from fourleaf.model.validator import Breach, Law

    placed = [gang for gang in stated["gangs"] if gang["placed"]]
    for placement, gang, due in zip(plan.placements, placed, right["gangs"], strict=False):
        for pod, owed in zip_longest(gang["pods"], due["pods"]):
            for field in ("gpus", "devices"):
                says = pod.get(field)
                if says is not None and says != owed[field]:
                    detail = f"says {field} {says}, they are {owed[field]}"
                    yield Breach(Law.DEVICES, placement.gang, owed["name"], detail)
