"""Gangs that the plan did not consider: held, or behind the batch."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fourleaf.model.gang import GangKey, Hold
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.explain.not_in_batch import NotInBatch
from tests.instances import random_snapshot
from tests.small import config, fabric, gang, snapshot
from tests.solver.explain.asking import reasons, starts, why


def worth(plan: Plan) -> dict[GangKey, int]:
    """What each placement scores."""
    return {one.gang: one.score for one in plan.placements}


HELD = (ReasonKind.GATED, ReasonKind.MEMBERS_MISSING, ReasonKind.UNSUPPORTED, ReasonKind.INVALID)


@pytest.mark.parametrize("kind", HELD)
def test_a_hold_is_passed_on_as_it_is(kind: ReasonKind) -> None:
    """What the readers found keeps its kind, detail, counts and advice."""
    hold = Hold(kind, "what they found", (("present", 1),), ("Do this.",))
    world = snapshot(fabric([[4]]), gang("a", 1, hold=hold))
    assert why(world) == Reason(kind, "what they found", (("present", 1),), unblock=("Do this.",))


def test_gangs_behind_the_batch_know_how_many_come_first() -> None:
    """Both the batch and those that wait for the next one count as ahead."""
    gangs = [gang(name, 1, created=float(i)) for i, name in enumerate("abc")]
    world = snapshot(fabric([[4]]), *gangs, batch={"size": 1})
    found = reasons(world)
    assert found["b"].kind is ReasonKind.NOT_IN_BATCH
    assert found["b"].counts == (("ahead", 1), ("batch", 1))
    assert found["c"].counts == (("ahead", 2), ("batch", 1))
    assert found["c"].unblock == ("raise batch.size to 3",)
    assert starts(replace(world, config=config(batch={"size": 3})))


@pytest.mark.parametrize(
    ("policy", "counts", "raised"),
    [
        ({"maxGangs": 1}, (("limit", 1), ("gangs", 1)), {"maxGangs": 2}),
        ({"maxMembers": 3}, (("limit", 3), ("members", 2), ("needed", 2)), {"maxMembers": 4}),
    ],
)
def test_a_namespace_takes_its_share_of_a_batch(
    policy: dict[str, int], counts: tuple[tuple[str, int], ...], raised: dict[str, int]
) -> None:
    """The limit that is met is counted, and raising it as advised lets the gang start."""
    gangs = (gang("a", 2, created=1.0), gang("b", 2, created=2.0))
    world = snapshot(fabric([[4]]), *gangs, namespaces={"ml": policy})
    reason = why(world)
    (field,) = policy
    assert reason.kind is ReasonKind.NAMESPACE_LIMIT
    assert reason.counts == counts
    assert f"namespaces.ml.{field}" in reason.unblock[0]
    assert starts(replace(world, config=config(namespaces={"ml": raised})))


def test_a_batch_is_planned_as_if_the_others_did_not_wait() -> None:
    """A plan for the batch alone, completed, is worth what one for all is, with every reason.

    Of places that are worth the same it may take others.
    """
    shortened = 0
    for seed in range(40):
        world = random_snapshot(seed)
        limits = {"*": {"maxGangs": 2, "maxMembers": 3 + seed % 3}}
        others = {"batch": {"size": 1 + seed % 2}, "namespaces": limits}
        spec = world.config.spec.model_dump(by_alias=True) | others
        world = replace(world, config=config(**spec))
        left_out = NotInBatch(world)
        batch = left_out.batch_alone()
        shortened += len(batch.gangs) < len(world.gangs)
        part, whole = solve(batch), solve(world)
        assert part is not None
        assert whole is not None
        part = explain(batch, part)
        completed = left_out.completed(part, math.inf)
        assert worth(completed) == worth(whole)
        found = [(one.gang, one.reason.kind) for one in explain(world, whole).waiting]
        assert [(one.gang, one.reason.kind) for one in completed.waiting] == found
        # No time is left: the kinds are told all the same.
        short = left_out.completed(part, 0.0)
        kinds = [one.reason.kind for one in completed.waiting]
        assert [one.reason.kind for one in short.waiting] == kinds
    assert shortened > 20
