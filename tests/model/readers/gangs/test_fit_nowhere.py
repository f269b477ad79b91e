"""Gangs that fit on no node: those that mind them do not wait for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourleaf.model.node_constraint import NodeConstraint, Operator, Requirement
from fourleaf.model.readers.gangs import fit_nowhere
from fourleaf.model.readers.gangs.fit_nowhere import FitNowhere
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources
from tests import small
from tests.model.readers.gangs.test_many_alike import held, repelling, replica
from tests.model.readers.made import Body, node, pod, reading

EVERY = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}


def nowhere(number: int, **fields: Any) -> Body:
    """Make a pod for a node that is not there; it repels all that are of any app."""
    return repelling(f"p-{number}", f"app-{number}", EVERY, nodeSelector={"no": "where"}, **fields)


def larger(number: int) -> Body:
    """Make a pod that repels all others and asks for more than a node has."""
    body = repelling(f"p-{number}", f"app-{number}", EVERY)
    body["spec"]["containers"] = pod("", 9)["spec"]["containers"]
    return body


@pytest.mark.parametrize("one", [nowhere, larger])
def test_none_waits_for_a_pod_that_fits_on_no_node(one: Any) -> None:
    """Thirty pods repel all others and can never start: the two that can take turns, as alone."""
    evil = [one(number) for number in range(30)]
    assert held(*evil, replica("w-1"), replica("w-2")) == {"w-2": ReasonKind.WAITS_FOR_GANG}


def test_who_fits_on_one_node_alone_goes_ahead() -> None:
    """The last of five nodes would do for it, so another one waits, as both may come there."""
    last = node("e")
    last["metadata"]["labels"]["for"] = "it"
    there = repelling("a", "one", EVERY, nodeSelector={"for": "it"})
    assert set(held(last, there, replica("w"))) == {"w"}


def test_where_there_is_no_node_they_take_turns() -> None:
    """Before the first node is read nothing is known of any gang: the second one waits."""
    second = reading(nowhere(1), nowhere(2)).snapshot.gangs[1]
    assert second.hold is not None


def test_another_fabric_is_asked_again() -> None:
    """The node has no GPU, which is known of it; then one comes that has eight."""
    gangs, gang = FitNowhere(), small.gang("g", 1)
    empty = small.one_leaf(small.node("a0", "a", allocatable=Resources(pods=10)))
    for _ in range(2):
        gangs.begin(empty)
        assert gangs.has(gang)
    gangs.begin(small.one_leaf(small.node("a0", "a")))
    assert not gangs.has(gang)


def test_looks_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four looks at four nodes do for one of two gangs; in the next reading for the other one."""
    monkeypatch.setattr(fit_nowhere, "MOST_COMPARISONS", 4)
    gangs, fabric = FitNowhere(), small.fabric([[4]])
    first, second = small.gang("g", 1, gpus=9), small.gang("h", 1, gpus=10)
    gangs.begin(fabric)
    assert (gangs.has(first), gangs.has(second)) == (True, False)
    gangs.begin(fabric)
    assert (gangs.has(first), gangs.has(second)) == (True, True)


def test_a_look_counts_as_many_comparisons_as_it_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty values on four nodes are two hundred comparisons, of which a hundred may be made."""
    monkeypatch.setattr(fit_nowhere, "MOST_COMPARISONS", 100)
    one = Requirement("host", Operator.IN, tuple(map(str, range(50))))
    gang = small.gang("g", 1)
    role = replace(gang.roles[0], constraint=NodeConstraint(affinity=((one,),)))
    gangs, fabric = FitNowhere(), small.fabric([[4]])
    gangs.begin(fabric)
    assert not gangs.has(replace(gang, roles=(role,)))
    assert gangs.has(small.gang("h", 1, gpus=9))


def test_what_is_known_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three constraints of ten values each are forgotten once there may be twenty."""
    monkeypatch.setattr(fit_nowhere, "MOST_KEPT", 20)
    gangs, fabric = FitNowhere(), small.fabric([[1]])
    for number in range(9):
        gangs.begin(fabric)
        one = Requirement("host", Operator.IN, tuple(f"{number}-{i}" for i in range(10)))
        gang = small.gang("g", 1)
        role = replace(gang.roles[0], constraint=NodeConstraint(affinity=((one,),)))
        assert gangs.has(replace(gang, roles=(role,)))
        assert len(gangs._known) <= 2
