"""Running pods and their terms, as they come and go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.label_selector import LabelSelector
from fourleaf.model.readers.pods.neighbours import Neighbours, TermGroup
from fourleaf.model.readers.pods.pod_terms import EVERY_NAMESPACE, PodTerm
from fourleaf.model.readers.pods.pods import Pod, read_pod
from tests.model.readers.gangs.test_many_alike import REQUIRED
from tests.model.readers.made import pod


def made(name: str, node: str, terms: dict[str, str], namespace: str = "other") -> Pod:
    """Make a pod with terms about all: topology key -> the `app` that it spares."""
    listed: list[dict[str, Any]] = [
        {
            "topologyKey": key,
            "namespaceSelector": {},
            "labelSelector": {
                "matchExpressions": [{"key": "app", "operator": "NotIn", "values": [value]}]
            },
        }
        for key, value in terms.items()
    ]
    body = pod(
        name,
        namespace=namespace,
        labels={"app": "a"},
        nodeName=node,
        affinity={"podAntiAffinity": {REQUIRED: listed}},
    )
    manifest = Manifest(Report(), "", "", "Pod", namespace, name, body)
    return read_pod(manifest, name, Owners(Inventory(Report())))


def groups(of: Neighbours, keys: set[str] | None = None) -> dict[str, TermGroup]:
    """Topology key -> the terms of namespace `other` about a pod of another one."""
    waits = made("w", "", {}, "team")
    found = list(of.terms_about(waits, keys))
    assert all(owner == "other" for owner, _ in found)
    return {group.key: group for _, some in found for group in some}


def test_terms_are_known_by_key_with_the_nodes_where_they_stand() -> None:
    """Two pods share a node and a third has another; once they end, nothing is left of them."""
    some = [
        made("p", "n1", {"zone": "x"}),
        made("q", "n1", {"zone": "y"}),
        made("r", "n2", {"zone": "z"}),
    ]
    near = Neighbours(some)
    group = groups(near)["zone"]
    assert len(group.pods_of) == group.comparisons == 3
    assert dict(group.nodes) == {"n1": 2, "n2": 1}
    near.add(some[0])
    near.discard(some[1])
    near.discard(some[1])
    assert len(group.pods_of) == group.comparisons == 2
    assert dict(group.nodes) == {"n1": 1, "n2": 1}
    for one in some:
        near.discard(one)
    assert not near.any_repels
    assert not groups(near)


def test_terms_of_other_keys_are_passed_over_whatever_their_number() -> None:
    """Of terms by forty keys that no node has and one that nodes have, one group is looked at."""
    many = made("p", "n1", {"zone": "x"} | {f"none-{n}": "x" for n in range(40)})
    few = made("q", "n1", {"none": "x"})
    assert set(groups(Neighbours([many]), {"zone", "rack"})) == {"zone"}
    assert set(groups(Neighbours([few]), {"zone", "rack"})) == set()
    assert len(groups(Neighbours([many]))) == 41


@pytest.mark.parametrize(
    "selector",
    [
        LabelSelector(labels=(("app", "a"),)),
        LabelSelector(expressions=(("app", "Exists", ()),)),
        LabelSelector(expressions=(("gone", "DoesNotExist", ()),)),
    ],
)
def test_a_term_about_every_namespace_looks_for_pods_once_whatever_their_namespaces(
    monkeypatch: pytest.MonkeyPatch, selector: LabelSelector
) -> None:
    """Forty namespaces of a pod each: all are found by one look, and none that has gone."""
    looks: list[str] = []
    was = Neighbours._near

    def near(one: Neighbours, namespace: str, asked: LabelSelector) -> Iterable[Pod]:
        looks.append(namespace)
        return was(one, namespace, asked)

    monkeypatch.setattr(Neighbours, "_near", near)
    pods = [made(f"p-{i}", "n1", {}, f"space-{i}") for i in range(40)]
    about_all = PodTerm(selector, "a term", "zone", (EVERY_NAMESPACE,))
    there = Neighbours(pods[:30])
    assert list(there.picked(about_all)) == pods[:30]
    for one in pods[30:]:
        there.add(one)
    for one in pods[:20]:
        there.discard(one)
    looks.clear()
    assert list(there.picked(about_all)) == pods[20:]
    assert len(looks) == 1
    about_one = PodTerm(selector, "a term", "zone", ("space-25",))
    assert list(there.picked(about_one)) == [pods[25]]
    for one in pods[20:]:
        there.discard(one)
    assert not list(there.picked(about_all))
