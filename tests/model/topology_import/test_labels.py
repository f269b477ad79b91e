"""Names matched with nodes, and the labels that they get."""

from __future__ import annotations

import json
import re

import pytest

from fourleaf.model.config.topology_presets import PRESETS
from fourleaf.model.readers.topology.label_values import label_value
from fourleaf.model.topology_import.cluster_nodes import ClusterNode
from fourleaf.model.topology_import.description import Position
from fourleaf.model.topology_import.host_names import match_names
from fourleaf.model.topology_import.labels import (
    WRITABLE,
    difference,
    preset_levels,
    wanted_labels,
)
from tests.model.topology_import.made import described, leaves, rails

SPINE, LEAF = PRESETS["plain"][0]
PLAIN = preset_levels("plain")
PLACES = (Position("n1", "l1", "s1", "c1"), Position("n2", "l1", "s1", "c1"))


def test_hosts_match_by_name_case_and_before_the_domain() -> None:
    """Each in turn; what is left on either side is listed in natural order."""
    match = match_names(
        ["n1", "N2", "n3.cluster.local", "n10", "n4"], ["n1", "n2", "n3", "n4.hpc", "x9", "x10"]
    )
    assert match.nodes == {"n1": "n1", "N2": "n2", "n3.cluster.local": "n3", "n4": "n4.hpc"}
    assert match.hosts_left == ("n10",)
    assert match.nodes_left == ("x9", "x10")


@pytest.mark.parametrize(
    ("hosts", "nodes"),
    [
        (["n1.a", "n1.b"], ["n1"]),
        (["n1"], ["n1.a", "n1.b"]),
        (["10.0.0.1"], ["10.0.0.2"]),
        (["10.0.0.1"], ["10"]),
    ],
    ids=str,
)
def test_nobody_is_guessed_at(hosts: list[str], nodes: list[str]) -> None:
    """Names that fit several, and addresses, which have no domain, match nobody."""
    match = match_names(hosts, nodes)
    assert match.nodes == {}
    assert (list(match.hosts_left), list(match.nodes_left)) == (hosts, nodes)


def test_labels_are_those_of_the_preset() -> None:
    """The scheduler's own names by default, three levels where the preset has them."""
    assert wanted_labels(PLACES, PLAIN)["n1"] == {LEAF: "l1", SPINE: "s1"}
    assert wanted_labels(PLACES, preset_levels("topograph"))["n2"] == {
        "fabric.topograph.run/tier-0": "l1",
        "fabric.topograph.run/tier-1": "s1",
        "fabric.topograph.run/tier-2": "c1",
    }
    assert wanted_labels([Position("n", "l")], PLAIN) == {"n": {LEAF: "l"}}


@pytest.mark.parametrize("preset", WRITABLE)
def test_labels_are_read_as_the_fabric_that_they_were_written_from(preset: str) -> None:
    """Units of rails, written to nodes and read again: the same nodes under the same leaves."""
    one = described(rails(2, 4).text())
    bodies = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels}}
        for node, labels in wanted_labels(one.positions, preset_levels(preset)).items()
    ]
    again = described(json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies}))
    assert leaves(again) == leaves(one)


def test_spines_of_one_name_are_told_apart_by_their_core() -> None:
    """The plain preset has no label for cores."""
    places = (Position("a", "l1", "s", "c1"), Position("b", "l2", "s", "c2"))
    values = [labels[SPINE] for labels in wanted_labels(places, PLAIN).values()]
    assert values == ["c1.s", "c2.s"]


@pytest.mark.parametrize("name", ["sw:1", "-x", "a" * 64, "ü" * 5, "S 1/2"])
def test_values_are_fit_for_labels_and_stay_apart(name: str) -> None:
    """What is no value of a label becomes one, with a hash that tells it apart."""
    value = label_value(name)
    assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", value)
    assert value != label_value(name + "x")
    assert label_value("A09-P1_IBLEAF.x-01") == "A09-P1_IBLEAF.x-01"


def test_only_nodes_that_differ_change() -> None:
    """One is right, one is wrong, one is not described and keeps what it has."""
    nodes = [
        ClusterNode("n1", {LEAF: "l1", SPINE: "s1", "other": "x"}),
        ClusterNode("n2", {LEAF: "l9"}),
        ClusterNode("n3", {LEAF: "l3"}),
        ClusterNode("n4", {}),
    ]
    diff = difference(nodes, wanted_labels(PLACES, PLAIN), PLAIN)
    assert [(one.node.name, dict(one.labels)) for one in diff.changes] == [
        ("n2", {LEAF: ("l9", "l1"), SPINE: (None, "s1")})
    ]
    assert (diff.same, diff.stale) == (1, ("n3",))


def test_prune_removes_labels_of_the_preset_and_no_others() -> None:
    """From nodes that the source does not name, and levels that it does not have."""
    nodes = [
        ClusterNode("n1", {LEAF: "l1", SPINE: "old", "other": "x"}),
        ClusterNode("n3", {LEAF: "l3", "fabric.topograph.run/tier-0": "keep"}),
    ]
    wanted = {"n1": {LEAF: "l1"}}
    assert difference(nodes, wanted, PLAIN).changes == ()
    diff = difference(nodes, wanted, PLAIN, prune=True)
    assert [one.patch for one in diff.changes] == [{SPINE: None}, {LEAF: None}]
    assert diff.stale == ()
