"""Nodes found by what they say of themselves: the same as asking each, at what it costs."""

from __future__ import annotations

import random

import pytest

from fourleaf.model.node import Node, Taint
from fourleaf.model.node_constraint import (
    NODE_NAME_FIELD,
    NodeConstraint,
    Operator,
    Requirement,
    Toleration,
)
from fourleaf.model.readers.gangs import mind_others
from fourleaf.model.readers.gangs.node_index import NodeIndex
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.test_many_alike import LIMIT, REQUIRED
from tests.model.readers.made import Body, node, pod, reading

VALUES = ("", "1", "2", "3", "-7", "x", "9" * 30)
KEYS = ("a", "b", "gone")
TAINTS = tuple(
    Taint(key, value, effect)
    for key in "st"
    for value in ("", "v")
    for effect in ("NoSchedule", "NoExecute", "PreferNoSchedule")
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes that conditions were held against, one by one."""
    found: list[str] = []
    was = Requirement.holds

    def holds(one: Requirement, node: Node) -> bool:
        found.append(node.name)
        return was(one, node)

    monkeypatch.setattr(Requirement, "holds", holds)
    return found


def some_node(rng: random.Random, name: str) -> Node:
    """Make a node of a few labels and taints."""
    (made,) = reading(node(name)).snapshot.fabric.nodes.values()
    labels = {key: rng.choice(VALUES) for key in KEYS[:2] if rng.random() < 0.7}
    taints = tuple(rng.sample(TAINTS, rng.choice((0, 0, 1, 2))))
    return Node(
        **{field: getattr(made, field) for field in made.__dataclass_fields__}
        | {"labels": labels, "taints": taints}
    )


def some_condition(rng: random.Random) -> Requirement:
    """Make a condition on a label or a field, of any number of values."""
    is_field = rng.random() < 0.2
    key = rng.choice((NODE_NAME_FIELD, "metadata.gone") if is_field else KEYS)
    values = [rng.choice((*VALUES, "n-1", "n-2")) for _ in range(rng.choice((0, 1, 1, 3)))]
    return Requirement(key, rng.choice(list(Operator)), tuple(values), is_field)


def some_constraint(rng: random.Random) -> NodeConstraint:
    """Make a constraint of few terms or many, some of which are empty."""
    terms = rng.choice((0, 1, 2, 6))
    return NodeConstraint(
        tuple((rng.choice(KEYS), rng.choice(VALUES)) for _ in range(rng.choice((0, 0, 1)))),
        tuple(
            tuple(some_condition(rng) for _ in range(rng.choice((0, 1, 2)))) for _ in range(terms)
        ),
        tuple(
            Toleration(rng.choice(("", "s", "t")), rng.choice(("Equal", "Exists")), "v")
            for _ in range(rng.choice((0, 1)))
        ),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_nodes_are_those_that_a_constraint_accepts_when_asked_for_each(seed: int) -> None:
    """By labels, names, numbers and taints, whatever the operator; in the order of the nodes."""
    rng = random.Random(seed)  # noqa: S311 - to be repeated
    nodes = [some_node(rng, f"n-{i}") for i in range(rng.choice((0, 1, 12)))]
    index = NodeIndex(Neighbours(), nodes)
    for _ in range(60):
        one = some_constraint(rng)
        assert list(index.of(index.selected(one))) == [n for n in nodes if one.selects(n)]
        assert list(index.of(index.tolerated(one))) == [n for n in nodes if one.tolerates(n)]
        keys = rng.sample(KEYS, rng.choice((0, 1, 2)))
        having = [n for n in nodes if n.labels.keys() >= set(keys)]
        assert list(index.of(index.with_keys(keys))) == having


def picky(number: int, conditions: int, values: int, operator: str = "NotIn") -> Body:
    """Make a pod that is spread over zones, and has many conditions of its own on nodes."""
    some = [
        {
            "key": "zone",
            "operator": operator,
            "values": [f"-{number + 1}"]
            if operator == "Gt"
            else [f"q-{number}-{c}-{v}" for v in range(values)],
        }
        for c in range(conditions)
    ]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": some}]}}}
    selector = {"matchLabels": {"app": f"p-{number}"}}
    over = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": selector}
    return pod(f"p-{number:02}", 0, affinity=affinity, topologySpreadConstraints=[over])


def zones(count: int) -> list[Body]:
    """Make nodes of a zone each, whose name is a number."""
    nodes = [node(f"n-{i}") for i in range(count)]
    for i, one in enumerate(nodes):
        one["metadata"]["labels"]["zone"] = f"{i}"
    return nodes


def limited(nodes: int, *pods: Body) -> int:
    """How many of the pods are held, as their namespace has caused too many comparisons."""
    gangs = reading(*zones(nodes), *pods).snapshot.gangs
    kinds = [gang.hold.kind for gang in gangs if gang.hold is not None]
    return kinds.count(ReasonKind.NAMESPACE_LIMIT)


def test_conditions_of_pods_that_are_spread_are_held_against_no_node(asked: list[str]) -> None:
    """Thirty pods of 50 conditions beside 40 nodes: asked for each, 60,000 would be looked at.

    The 1,500 that are belong to what looks for gangs that fit nowhere: it takes the first node.
    """
    assert limited(40, *[picky(n, 50, 3) for n in range(30)]) == 0
    assert len(asked) == 1_500


@pytest.mark.parametrize(
    ("conditions", "values", "operator"), [(90, 1, "NotIn"), (9, 180, "NotIn"), (9, 1, "Gt")]
)
def test_conditions_of_pods_that_are_spread_count_by_number_and_values(
    monkeypatch: pytest.MonkeyPatch, conditions: int, values: int, operator: str
) -> None:
    """Of thirty pods, 2,000 comparisons allow few where conditions or what they look at are many.

    A node costs a pod one comparison here, half for itself and half for its zone.
    """
    monkeypatch.setattr(mind_others, LIMIT, 2_000)
    monkeypatch.setattr(mind_others, "KIND_COMPARISONS", 0)
    monkeypatch.setattr(mind_others, "SPREAD_COMPARISONS", 0)
    assert limited(40, *[picky(n, 1, 1, operator) for n in range(30)]) == 0
    found = limited(40, *[picky(n, conditions, values, operator) for n in range(30)])
    assert found > 10
