"""Which nodes a pod may use: what is kept of that says the same as looking at each node."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random

import pytest

from fourleaf.model.node import Node, Taint
from fourleaf.model.node_constraint import (
    FEW_TERMS,
    MOST_KEPT,
    NODE_NAME_FIELD,
    NodeConstraint,
    Operator,
    Requirement,
    Toleration,
)
from tests import small

KEYS = ("a", "b", "c")
VALUES = ("1", "2", "x")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def a_node(dice: Random, number: int) -> Node:
    """A node with some of three labels and of three taints."""
    labels = {key: dice.choice(VALUES) for key in KEYS if dice.random() < 0.7}
    taints = tuple(
        Taint(key, dice.choice(VALUES), dice.choice(EFFECTS)) for key in KEYS if dice.random() < 0.5
    )
    return small.node(f"n{number}", "leaf", labels=labels, taints=taints)


def a_requirement(dice: Random) -> Requirement:
    """On a label, or now and then on the name of a node."""
    operator = dice.choice(list(Operator))
    if dice.random() < 0.05:
        return Requirement(NODE_NAME_FIELD, Operator.IN, (f"n{dice.randrange(20)}",), True)
    values = () if "Exist" in operator else tuple(dice.sample(VALUES, dice.choice((1, 2))))
    return Requirement(dice.choice(KEYS), operator, values)


def a_constraint(dice: Random) -> NodeConstraint:
    """Of up to eight terms and six tolerations."""
    terms = tuple(
        tuple(a_requirement(dice) for _ in range(dice.randrange(3)))
        for _ in range(dice.choice((0, 1, FEW_TERMS, FEW_TERMS + 1, 8)))
    )
    tolerations = tuple(
        Toleration(
            dice.choice(("", *KEYS)),
            dice.choice(("Equal", "Exists", "Gt", "Lt")),
            dice.choice(VALUES),
            dice.choice(("", *EFFECTS)),
        )
        for _ in range(dice.randrange(6))
    )
    return NodeConstraint(affinity=terms, tolerations=tolerations)


def test_what_is_kept_says_what_each_node_says() -> None:
    """Of 300 constraints, each asked of 40 nodes twice, beside the rules of the API written out."""
    dice = Random(7)  # noqa: S311 - has to repeat
    selected = tolerated = 0
    for _ in range(300):
        constraint = a_constraint(dice)
        for node in [a_node(dice, number) for number in range(20)] * 2:
            selects = not constraint.affinity or any(
                len(term) > 0 and all(one.holds(node) for one in term)
                for term in constraint.affinity
            )
            refused = tuple(
                taint
                for taint in node.taints
                if taint.effect != "PreferNoSchedule"
                and not any(one.tolerates(taint) for one in constraint.tolerations)
            )
            assert constraint.selects(node) == selects
            assert constraint.untolerated(node.taints) == refused
            assert constraint.tolerates(node) == (not refused)
            selected += selects
            tolerated += not refused
    assert 1_000 < selected < 11_000
    assert 1_000 < tolerated < 11_000


@pytest.mark.parametrize(
    ("label", "above"),
    [
        ("5", True),
        ("4", False),
        ("-5", False),
        ("+5", True),
        ("005", True),
        ("1_0", False),
        (" 5", False),
        ("\u0665", False),
        (str(2**63 - 1), True),
        (str(2**63), False),
        ("9" * 5000, False),
        ("", False),
    ],
)
def test_numbers_are_read_as_kube_scheduler_reads_them(label: str, above: bool) -> None:
    """Of a label that is to be above 4: a sign and zeros may come first, and 64 bits are all."""
    node = small.node("n", "leaf", labels={"a": label})
    assert Requirement("a", Operator.GT, ("4",)).holds(node) is above
    assert not Requirement("a", Operator.GT, ("4", "4")).holds(node)


def test_few_answers_are_kept() -> None:
    """Terms about a label that each of a thousand nodes has its own of."""
    terms = tuple((Requirement("a", Operator.NOT_IN, (str(n),)),) for n in range(FEW_TERMS + 1))
    constraint = NodeConstraint(affinity=terms)
    for number in range(1000):
        assert constraint.selects(small.node(f"n{number}", "leaf", labels={"a": str(number)}))
    assert len(constraint._met) == MOST_KEPT


def test_what_was_worked_out_goes_with_no_copy() -> None:
    """Another process hashes text otherwise, and what is changed asks for other things."""
    constraint = NodeConstraint(tolerations=(Toleration("a", "Exists"),))
    node = small.node("n", "leaf", taints=(Taint("a", "", "NoSchedule"),))
    assert constraint.tolerates(node)
    assert hash(constraint) == hash(NodeConstraint(tolerations=(Toleration("a", "Exists"),)))
    assert not hasattr(pickle.loads(pickle.dumps(constraint)), "_hash")  # noqa: S301 - our own
    assert not replace(constraint, tolerations=()).tolerates(node)
