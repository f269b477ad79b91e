"""Bound pods of more terms about other pods than are read one by one: they repel more widely."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fourleaf.model.readers.pods import node_constraints
from fourleaf.model.readers.pods.pod_terms import MOST_STANDING_TERMS
from fourleaf.model.snapshot import Snapshot
from tests.model.readers.live.test_live import NOW, reader
from tests.model.readers.made import Body, node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOST = "kubernetes.io/hostname"
MANY = MOST_STANDING_TERMS + 1


def term(selector: Body | None, key: str = HOST, **more: Any) -> Body:
    """Make a term about pods of all namespaces."""
    there = {"topologyKey": key, "namespaceSelector": {}, **more}
    return there if selector is None else there | {"labelSelector": selector}


def bound(*terms: Body, kind: str = "podAntiAffinity", **more: Any) -> Body:
    """Make a pod with these terms that stands on `a`."""
    affinity = {kind: {REQUIRED: list(terms)}} | more
    fields = {"nodeName": "a", "phase": "Running", "affinity": affinity}
    return pod("t", 0, namespace="other", **fields)


def left(there: Body, **labels: str) -> str:
    """The nodes, of `a` and `b`, that are left to a pod of these labels."""
    found: Snapshot = (
        reader(node("a"), node("b"), there, pod("h", 0, labels=labels)).reading(NOW).snapshot
    )
    (gang,) = found.gangs
    selects = gang.roles[0].constraint.selects
    return "".join(one.name for one in found.fabric.nodes.values() if selects(one))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the terms that are read one by one."""
    counts, how = Counter[str](), node_constraints.read_pod_term
    monkeypatch.setattr(
        node_constraints,
        "read_pod_term",
        lambda *given: counts.update(["terms"]) or how(*given),
    )
    return counts


@pytest.mark.parametrize(
    ("count", "nodes"), [(MOST_STANDING_TERMS, "ab"), (MANY, "b"), (1_900, "b")]
)
def test_beyond_64_terms_a_bound_pod_repels_by_the_label_alone(
    read: Counter[str], count: int, nodes: str
) -> None:
    """Up to 64 each value counts; of more none is read, and all that have the label keep off."""
    there = bound(*(term({"matchLabels": {"app": f"x{n}"}}) for n in range(count)))
    assert left(there, app="honest") == nodes
    assert read["terms"] == (count if count <= MOST_STANDING_TERMS else 0)
    assert left(there, app="x7") == "b"
    assert left(there, tier="honest") == "ab"


def test_terms_of_as_many_labels_repel_all() -> None:
    """Where labels are more than 64 as well, no pod may come near."""
    there = bound(*(term({"matchLabels": {f"k{n}": "x"}}) for n in range(MANY)))
    assert left(there, tier="honest") == "b"


@pytest.mark.parametrize(
    ("selector", "nodes"),
    [
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["y"]}]}, "b"),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, "b"),
        ({"matchExpressions": [{"key": "zz", "operator": "NotIn", "values": ["y"]}]}, "b"),
        ({"matchExpressions": [{"key": "zz", "operator": "DoesNotExist"}]}, "b"),
        ({}, "b"),
        (None, "ab"),
    ],
)
def test_who_a_term_picks_is_repelled_widely_too(selector: Body | None, nodes: str) -> None:
    """Whatever a selector asks for; without one a term picks none, among however many."""
    some = [term({"matchLabels": {"k": "x"}}) for _ in range(MANY)]
    assert left(bound(*some, term(selector)), app="honest") == nodes


def test_each_key_of_nodes_is_kept() -> None:
    """A term by a label that no node has keeps none off, beside however many by another one."""
    some = [term({"matchLabels": {f"k{n}": "x"}}, "example.com/none") for n in range(MANY)]
    assert left(bound(*some), app="honest") == "ab"
    assert left(bound(*some, term({"matchLabels": {"app": "y"}})), app="honest") == "b"


def test_terms_of_its_own_namespace_repel_no_others() -> None:
    """A pod that names no namespaces repels pods of its own alone, however many terms it has."""
    own = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "x"}}}
    assert left(bound(*(own for _ in range(MANY))), app="honest") == "ab"


def test_terms_that_repel_none_are_not_read_among_so_many(read: Counter[str]) -> None:
    """Affinities, and preferences, of a pod that stands decide nothing: 1,900 cost nothing."""
    near = [term({"matchLabels": {"app": f"x{n}"}}) for n in range(1_900)]
    assert left(bound(*near, kind="podAffinity"), app="honest") == "ab"
    assert not read
