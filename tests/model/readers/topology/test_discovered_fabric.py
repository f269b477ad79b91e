"""Fabrics of nodes by what their agents found, beside labels and without any."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.fabric import Fabric
from fourleaf.model.readers import InputReading
from tests.model.readers.made import LEAF, config, node, reading
from tests.model.readers.topology.made import place, status, topology

COUNT = config(devices={"mode": "count"})
"""Devices are counted: what agents say of them is of no concern here."""


def leaves(fabric: Fabric) -> dict[tuple[str, str], list[str]]:
    """Spine and name of each leaf, with its nodes."""
    return {(leaf.spine, leaf.name): [node.name for node in leaf.nodes] for leaf in fabric.leaves}


def read(found: dict[str, Any], labels: dict[str, str] | None = None, **spec: Any) -> InputReading:
    """Nodes with what their agents found (None: nothing), and the leaf labels of some."""
    labels = labels or {}
    nodes = [node(name, labels.get(name), "s1" if name in labels else None) for name in found]
    told = [one and (one if "kind" in one else status(name, one)) for name, one in found.items()]
    said = config(devices={"mode": "count"}, **spec)
    return reading(*nodes, *(one for one in told if one), said)


def said(found: InputReading) -> list[str]:
    """Fields of all warnings."""
    return [one.field for one in found.problems]


def test_leaves_are_switches_that_interfaces_see() -> None:
    """Two nodes a switch: two leaves by the names of switches, in natural order, and no doubt."""
    found = read({f"n{i}": topology(f"leaf-{10 if i > 2 else 2}") for i in range(1, 5)})
    assert leaves(found.snapshot.fabric) == {
        ("fabric", "leaf-2"): ["n1", "n2"],
        ("fabric", "leaf-10"): ["n3", "n4"],
    }
    assert said(found) == []


def test_switches_that_share_their_nodes_are_one_leaf() -> None:
    """Rails: four switches of two units, each with the same two nodes on both of its switches."""
    rails = {f"n{i}": topology(f"su{i // 2}-r1", f"su{i // 2}-r2") for i in range(4)}
    assert leaves(read(rails).snapshot.fabric) == {
        ("fabric", "su0-rx"): ["n0", "n1"],
        ("fabric", "su1-rx"): ["n2", "n3"],
    }


def test_one_lie_moves_no_other_node() -> None:
    """A node that sees all switches and calls them other names moves itself alone."""
    honest = {f"n{i}": topology(f"leaf-{i // 2}") for i in range(4)}
    liar = topology("leaf-0", "leaf-1")
    liar["switches"][0]["name"] = liar["switches"][1]["name"] = "mine"
    fake = {"switches": [{"interface": "eth9", "id": "fake", "name": "leaf-0"}]}
    before = leaves(read(honest).snapshot.fabric)
    found = read({**honest, "liar": liar, "forger": fake})
    after = leaves(found.snapshot.fabric)
    assert before.items() <= after.items()
    assert after.keys() - before.keys() == {("liar", "liar"), ("fabric", "fake")}
    assert "spec.topology[NodeInTwoLeaves]" in said(found)


def test_a_switch_that_one_node_sees_joins_no_leaves() -> None:
    """A node that sees a switch of each leaf, and others that no node sees, moves itself alone."""
    honest = {f"n{i}": topology(f"leaf-{i // 2}") for i in range(6)}
    before = leaves(read(honest).snapshot.fabric)
    liar = topology("leaf-0", "leaf-1", "leaf-2", "mine", "mine-too")
    after = leaves(read({**honest, "liar": liar}).snapshot.fabric)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


@pytest.mark.parametrize(
    "lie", [("lb0", "mine", "mine"), ("lb0", "nb", ""), ("mine", "nb", "mine"), ("nb", "nb", "nb")]
)
def test_one_lie_renames_no_leaf(lie: tuple[str, str, str]) -> None:
    """A node that has a leaf or a spine of others elsewhere stands apart, and theirs stay."""
    honest = {f"n{i}": place("oci", f"lb{i // 2}", "nb", "hpc") for i in range(6)}
    before = leaves(read(honest).snapshot.fabric)
    after = leaves(read({**honest, "liar": place("oci", *lie)}).snapshot.fabric)
    assert before.items() <= after.items()
    assert after.keys() - before.keys() == {("liar", "liar")}


def test_labels_win_and_discovery_fills_in() -> None:
    """A node without a label joins those of its switch; a switch of two leaves is told."""
    found = read(
        {
            "n1": topology("x"),
            "n2": topology("x"),
            "n3": topology("y"),
            "n4": topology("y"),
            "n5": {},
        },
        {"n1": "a", "n3": "a", "n4": "b"},
    )
    assert leaves(found.snapshot.fabric) == {
        ("n5", "n5"): ["n5"],
        ("s1", "a"): ["n1", "n2", "n3"],
        ("s1", "b"): ["n4"],
    }
    assert said(found) == ["spec.topology", "spec.topology[SwitchInTwoLeaves]"]
    assert "y (a and b)" in found.problems[1].message


def test_a_clique_over_two_leaves_is_told() -> None:
    """By labels n1 and n2 stand in two leaves; their devices are one NVLink clique."""
    cliques = {name: status(name, {}, 7) for name in ("n1", "n2")}
    found = read(cliques, {"n1": "a", "n2": "b"})
    assert said(found) == ["spec.topology[CliqueInTwoLeaves]"]
    assert "c1.7 (a and b)" in found.problems[0].message
    assert leaves(read(cliques).snapshot.fabric) == {("fabric", "c1.7"): ["n1", "n2"]}


@pytest.mark.parametrize("discovered", [1, 2])
def test_half_of_the_nodes_is_too_few(discovered: int) -> None:
    """Of four nodes two at most are discovered: all stay in one leaf, and it is told."""
    some = {f"n{i}": topology("x") if i < discovered else {} for i in range(4)}
    found = read(some)
    assert found.snapshot.fabric.flat
    assert said(found) == ["spec.topology", "spec.topology[FewDiscovered]"]


def test_the_source_that_places_most_speaks_for_all() -> None:
    """Three nodes by their cloud with spine and core, one by a switch that no other sees."""
    cloud = {f"n{i}": place("oci", f"lb{i % 2}", "nb", "hpc") for i in range(3)}
    found = read({**cloud, "n3": topology("leaf-9")})
    assert leaves(found.snapshot.fabric) == {
        ("n3", "n3"): ["n3"],
        ("nb", "lb0"): ["n0", "n2"],
        ("nb", "lb1"): ["n1"],
    }
    (told,) = found.problems
    assert "finds no leaf of n3, which oci does not place, so each stands apart" in told.message


def test_pools_of_a_cloud_yield_unless_the_config_names_them() -> None:
    """On AKS every node carries the label of its pool, which is no switch."""
    pools = [node(f"n{i}", None) for i in range(2)]
    for one in pools:
        one["metadata"]["labels"] = {
            "topology.kubernetes.io/zone": "z1",
            "kubernetes.azure.com/agentpool": "pool",
        }
    told = [status(f"n{i}", topology(f"leaf-{i}")) for i in range(2)]
    assert list(leaves(reading(*pools, *told, COUNT).snapshot.fabric)) == [
        ("fabric", "leaf-0"),
        ("fabric", "leaf-1"),
    ]
    named = config(devices={"mode": "count"}, topology={"preset": "aks"})
    assert list(leaves(reading(*pools, *told, named).snapshot.fabric)) == [("z1", "pool")]


def test_what_speaks_of_an_earlier_node_says_nothing() -> None:
    """The node has another UID than the one that its agent spoke of, and its label is absent."""
    old = status("n1", topology("x"), uid="old")
    body = node("n1", None)
    body["metadata"]["uid"] = "new"
    assert reading(body, old, COUNT).snapshot.fabric.flat
    assert LEAF not in body["metadata"].get("labels", {})
