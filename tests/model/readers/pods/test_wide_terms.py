"""Bound pods of more terms about other pods than are read one by one: they repel more widely."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods import node_constraints
from fourleaf.model.readers.pods.pod_terms import (
    ALL_NODES,
    MOST_NAMESPACES,
    MOST_STANDING_TERMS,
)
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


def wants(there: Body) -> node_constraints.NodeWants:
    """What a pod says of where it is placed."""
    manifest = Manifest(Report(), "", "", "Pod", "other", "t", there)
    return node_constraints.read_wants(manifest, there["spec"])


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
    some = [term({"matchLabels": {"k": f"x{n}"}}) for n in range(MANY)]
    assert left(bound(*some, term(selector)), app="honest") == nodes


def test_each_key_of_nodes_is_kept() -> None:
    """A term by a label that no node has keeps none off, beside however many by another one."""
    some = [term({"matchLabels": {f"k{n}": "x"}}, "example.com/none") for n in range(MANY)]
    assert left(bound(*some), app="honest") == "ab"
    assert left(bound(*some, term({"matchLabels": {"app": "y"}})), app="honest") == "b"


def test_more_than_64_keys_of_nodes_are_one_by_which_all_nodes_are_near() -> None:
    """Whatever nodes have one of them: one term is kept, of the namespaces that they name."""
    some = [term({"matchLabels": {"app": "x"}}, f"example.com/{n}") for n in range(1_900)]
    (kept,) = wants(bound(*some)).apart
    assert kept.key == ALL_NODES
    assert left(bound(*some), app="honest") == ""
    assert left(bound(*some[:MOST_STANDING_TERMS]), app="x") == "ab"
    own = [one | {"namespaceSelector": None} for one in some]
    assert left(bound(*own), app="honest") == "ab"
    # What is bound to a node that is gone is near none.
    gone = bound(*some)
    gone["spec"]["nodeName"] = "gone"
    assert left(gone, app="honest") == "ab"


def own(number: int, **more: Any) -> Body:
    """Make a term about pods of the pod's own namespace."""
    return {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": f"x{number}"}}} | more


@pytest.mark.parametrize("more", [{}, {"namespaces": ["other"]}, {"namespaces": [[], 1, ""]}])
def test_terms_of_its_own_namespace_repel_no_others(more: Body) -> None:
    """A pod that names its own namespace, or none, repels no others, however many terms it has."""
    some = [own(n, **more) for n in range(MANY)]
    assert left(bound(*some), app="honest") == "ab"
    # Nor does what another label is asked for by.
    assert left(bound(*some, term({"matchLabels": {"tier": "x"}})), app="honest") == "ab"
    assert left(bound(*some, own(0, namespaces=["other", "ml"])), app="honest") == "b"


def test_more_than_64_namespaces_are_all() -> None:
    """Of a label for whose pods terms name more namespaces than are kept by name."""
    some = [own(n, namespaces=[f"team{n}"]) for n in range(MANY)]
    assert left(bound(*some), app="honest") == "b"
    assert left(bound(*some), tier="honest") == "ab"
    few = [own(n, namespaces=[f"team{n % MOST_NAMESPACES}"]) for n in range(MANY)]
    assert left(bound(*few), app="honest") == "ab"


def test_what_is_no_anti_affinity_leaves_its_terms_as_they_are(read: Counter[str]) -> None:
    """Preferences and affinities beside one term, and equal terms, have none read widely."""
    weighed = [{"weight": 1, "podAffinityTerm": own(n)} for n in range(MANY)]
    spread = [own(n, whenUnsatisfiable="DoNotSchedule") for n in range(MANY)]
    one = term({"matchLabels": {"app": "db"}})
    there = bound(*[one] * MANY, podAffinity={PREFERRED: weighed})
    there["spec"]["topologySpreadConstraints"] = spread
    assert left(there, app="honest") == "ab"
    assert read == {"terms": 1}
    assert left(there, app="db") == "b"


def test_terms_that_repel_none_are_not_read_among_so_many(read: Counter[str]) -> None:
    """Affinities, and preferences, of a pod that stands decide nothing: 1,900 cost nothing."""
    near = [term({"matchLabels": {"app": f"x{n}"}}) for n in range(1_900)]
    assert left(bound(*near, kind="podAffinity"), app="honest") == "ab"
    assert not read
