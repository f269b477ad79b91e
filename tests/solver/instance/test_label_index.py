"""Nodes looked up by what they say are those that would be found by looking at each."""

from __future__ import annotations

from random import Random

from fourleaf.model.node_constraint import NodeConstraint, Operator, Requirement
from fourleaf.solver.instance.label_index import LabelIndex
from tests import small
from tests.model.test_node_constraint import KEYS, VALUES, a_constraint, a_node


def test_the_index_says_what_each_node_says() -> None:
    """Of 500 constraints on 70 nodes, with selectors beside affinity and tolerations."""
    dice = Random(11)  # noqa: S311 - has to repeat
    nodes = [a_node(dice, number) for number in range(70)]
    index = LabelIndex(nodes)
    selected = tolerated = 0
    for _ in range(500):
        drawn = a_constraint(dice)
        selector = ((dice.choice(KEYS), dice.choice(VALUES)),) if dice.random() < 0.5 else ()
        constraint = NodeConstraint(selector, drawn.affinity, drawn.tolerations)
        found = index.listed(index.selected(constraint))
        assert found == [constraint.selects(node) for node in nodes]
        selected += sum(found)
        found = index.listed(index.tolerated(constraint))
        assert found == [constraint.tolerates(node) for node in nodes]
        tolerated += sum(found)
    assert 0 < selected < 500 * 70
    assert 0 < tolerated < 500 * 70


def test_numbers_are_compared_as_numbers() -> None:
    """Of nodes of rank 2, 10, x and none, 10 alone is above 2, and 2 alone below 10.

    Nor is 1_1 a number, or one of more than 64 bits.
    """
    ranks = ["2", "10", "x", None, "1_1", "9" * 20]
    nodes = [
        small.node(f"n{i}", "leaf", labels={"rank": rank} if rank else {})
        for i, rank in enumerate(ranks)
    ]
    index = LabelIndex(nodes)

    def having(operator: Operator, *values: str) -> list[str]:
        term = (Requirement("rank", operator, values),)
        listed = index.listed(index.selected(NodeConstraint(affinity=(term,))))
        return [node.name for node, is_one in zip(nodes, listed, strict=True) if is_one]

    assert having(Operator.GT, "2") == ["n1"]
    assert having(Operator.LT, "10") == ["n0"]
    assert having(Operator.GT, "x") == having(Operator.LT) == []
    assert having(Operator.NOT_IN, "2") == ["n1", "n2", "n3", "n4", "n5"]
    assert having(Operator.DOES_NOT_EXIST) == ["n3"]


def test_features_that_a_kubelet_has_to_declare() -> None:
    """A pod that needs two features may use the one node of three whose kubelet declares both."""
    nodes = [
        small.node("none", "leaf"),
        small.node("one", "leaf", features=frozenset({"A"})),
        small.node("both", "leaf", features=frozenset({"A", "B", "C"})),
    ]
    index = LabelIndex(nodes)
    needs = NodeConstraint(features=frozenset({"A", "B"}))
    assert index.listed(index.selected(needs)) == [False, False, True]
