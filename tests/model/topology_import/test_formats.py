"""Slurm, topograph, Kubernetes and CSV: the same fabric in every form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fourleaf.model.readers.topology.findings import FindingKind
from fourleaf.model.topology_import.description import DescriptionFormat, Position
from tests.model.topology_import.made import described, findings, leaves, slurm

FABRIC = {
    ("core", "s1", "l1"): ["n1", "n2", "n3", "n4"],
    ("core", "s1", "l2"): ["n5", "n6", "n7", "n8"],
    ("core", "s2", "l3"): ["n9", "n10", "n11", "n12"],
}
CONF = """
# a comment
SwitchName=core Switches=s[1-2] LinkSpeed=400
switchname=s1   switches=l[1,2]
SwitchName=s2 Switches=l3
SwitchName=l1 Nodes=n[1-4]
SwitchName=l2 \\
  Nodes=n[5-6],n7,n8   # more
SwitchName=l3 Nodes="n[9-12]"
"""
YAML = """
- topology: flat
  cluster_default: false
  flat: true
- topology: other
  block: {block_sizes: [4], blocks: [{block: b1, nodes: "z[1-4]"}]}
- topology: main
  cluster_default: true
  tree:
    switches:
      - {switch: core, children: "s[1-2]"}
      - {switch: s1, children: "l[1-2]"}
      - {switch: s2, children: l3}
      - {switch: l1, nodes: "n[1-4]"}
      - {switch: l2, nodes: "n[5-8]"}
      - {switch: l3, nodes: "n[9-12]"}
"""
MODEL = """
switches:
  core: {switches: [s1, s2]}
  s1: {switches: [l1, l2]}
  s2:
    switches: [l3]
blocks:
- {switch: l1, nodes: ["n[1-4]"], annotations: {a: b}}
- {switch: l2, nodes: ["n[5-7]", n8]}
- {switch: l3, nodes: ["n[9-12]"]}
"""
CSV = "Host,ASW,PSW,rack,DSW\n" + "".join(
    f"{node},{leaf},{spine},r9,{core}\n"
    for (core, spine, leaf), nodes in FABRIC.items()
    for node in nodes
)
ANSWER = json.dumps(
    {
        "instances": [
            {"id": node, "network_layers": [leaf, spine, core], "labels": {"x": "y"}}
            for (core, spine, leaf), nodes in FABRIC.items()
            for node in nodes
        ]
    }
)


def nodes(*keys: str) -> list[dict[str, Any]]:
    """The nodes of the fabric with labels `keys` for core, spine and leaf."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": node, "labels": dict(zip(keys, place, strict=True))},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}},
        }
        for place, own in FABRIC.items()
        for node in own
    ]


def kueue(*keys: str) -> dict[str, Any]:
    """A Kueue topology with these levels and the host."""
    levels = [{"nodeLabel": key} for key in (*keys, "kubernetes.io/hostname")]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Topology",
        "metadata": {"name": "default"},
        "spec": {"levels": levels},
    }


LEGACY = tuple(f"network.topology.nvidia.com/{level}" for level in ("core", "spine", "leaf"))
SOURCES = {
    "conf": (CONF, DescriptionFormat.SLURM_CONF),
    "yaml": (YAML, DescriptionFormat.SLURM_YAML),
    "yaml as json": (
        json.dumps([{"topology": "t", "tree": {"switches": []}}]).replace(
            "[]",
            json.dumps(
                [
                    {"switch": "core", "children": "s[1-2]"},
                    {"switch": "s1", "children": "l[1-2]"},
                    {"switch": "s2", "children": "l3"},
                    {"switch": "l1", "nodes": "n[1-4]"},
                    {"switch": "l2", "nodes": "n[5-8]"},
                    {"switch": "l3", "nodes": "n[9-12]"},
                ]
            ),
        ),
        DescriptionFormat.SLURM_YAML,
    ),
    "model": (MODEL, DescriptionFormat.TOPOGRAPH),
    "answer": (ANSWER, DescriptionFormat.TOPOGRAPH),
    "csv": (CSV, DescriptionFormat.CSV),
    "labels": (
        json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes(*LEGACY)}),
        DescriptionFormat.KUBERNETES,
    ),
    "kueue": (
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "List",
                "items": [kueue("a", "b", "c"), *nodes("a", "b", "c")],
            }
        ),
        DescriptionFormat.KUBERNETES,
    ),
}


@pytest.mark.parametrize(("text", "kind"), SOURCES.values(), ids=SOURCES)
def test_every_format_shows_itself_and_gives_the_same_fabric(
    text: str, kind: DescriptionFormat
) -> None:
    """Twelve nodes in three leaves of two spines; nothing is odd."""
    one = described(text)
    assert one.format is kind
    assert leaves(one) == FABRIC
    assert findings(one) == {}
    assert described(text, kind) == one


def test_topograph_names_switches_in_comments() -> None:
    """`# switch.1.1=leaf-a` is the name of the switch below it."""
    one = described(
        "# switch.2.1=spine-a\nSwitchName=switch.2.1 Switches=switch.1.[1-2]\n"
        "# switch.1.1=leaf-a\nSwitchName=switch.1.1 Nodes=n[1-4]\n"
        "# switch.1.2=leaf-b\nSwitchName=switch.1.2 Nodes=n[5-8]\n"
    )
    assert list(leaves(one)) == [("", "spine-a", "leaf-a"), ("", "spine-a", "leaf-b")]


@pytest.mark.parametrize(
    "text",
    [
        "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4,8\n",
        "- topology: t\n  block:\n    block_sizes: [4, 8]\n    blocks:\n"
        "    - {block: b1, nodes: 'n[1-4]'}\n    - {block: b2, nodes: 'n[5-8]'}\n",
    ],
)
def test_blocks_are_leaves_without_spines(text: str) -> None:
    """A block file names nothing above its blocks, so they are not called islands."""
    one = described(text)
    assert list(leaves(one)) == [("", "", "b1"), ("", "", "b2")]
    assert list(findings(one)) == [FindingKind.BLOCKS_AS_LEAVES]


def test_slurm_with_several_switches_above_a_leaf() -> None:
    """Tools for fat trees list a leaf under each of its spine switches: those are one spine."""
    one = described(
        "SwitchName=s1 Switches=l[1-2]\nSwitchName=s2 Switches=l[1-2]\n"
        "SwitchName=l1 Nodes=n[1-4]\nSwitchName=l2 Nodes=n[5-8]\n"
    )
    assert list(leaves(one)) == [("", "s1-and-1-more", "l1"), ("", "s1-and-1-more", "l2")]


def test_levels_above_the_core_are_left_out_and_said() -> None:
    """Leaf, spine, core, and one more."""
    one = described(
        "SwitchName=top Switches=c\nSwitchName=c Switches=s\nSwitchName=s Switches=l\n"
        "SwitchName=l Nodes=n[1-4]\n"
    )
    assert list(leaves(one)) == [("c", "s", "l")]
    assert findings(one)[FindingKind.LEVELS_LEFT_OUT].count == 1


def test_the_domain_of_nvlink_goes_along() -> None:
    """Labels of topograph name it, in its answer and on nodes."""
    answer = {
        "instances": [
            {
                "id": "n1",
                "network_layers": ["l1"],
                "labels": {"accelerator.topograph.run/domain": "nvl-1"},
            }
        ]
    }
    expected = (Position("n1", "l1", accelerator="nvl-1"),)
    assert described(json.dumps(answer)).positions == expected
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "n1",
            "labels": {
                "network.topology.nvidia.com/leaf": "l1",
                "network.topology.nvidia.com/accelerator": "nvl-1",
            },
        },
    }
    assert described(json.dumps(body)).positions == expected


def test_nodes_without_labels_are_told() -> None:
    """One GPU node without a leaf, one without a spine; a node without GPUs is not missed."""
    bodies = nodes(*LEGACY)
    del bodies[0]["metadata"]["labels"][LEGACY[2]]
    del bodies[1]["metadata"]["labels"][LEGACY[1]]
    plain = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "control"}}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*bodies, plain]})
    found = findings(described(text))
    assert found[FindingKind.NODE_WITHOUT_LEAF].names == ("n1",)
    assert found[FindingKind.LABEL_MISSING].names == ("n2",)


def test_a_level_that_no_node_has_is_not_missed() -> None:
    """Topograph writes tier-2 only where there is a third tier of switches."""
    keys = ("unused", "fabric.topograph.run/tier-1", "fabric.topograph.run/tier-0")
    one = described(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes(*keys)}))
    assert list(leaves(one)) == [("", "s1", "l1"), ("", "s1", "l2"), ("", "s2", "l3")]
    assert findings(one) == {}


def test_ten_thousand_nodes_of_slurm() -> None:
    """1,000 leaves of 10 under 40 spines; nothing is odd, and the order is that of numbers."""
    one = described(slurm())
    assert len(one.positions) == 10_000
    assert one.positions[-1] == Position("gpu10000", "leaf1000", "spine40", "core")
    assert findings(one) == {}


def test_what_is_odd_among_ten_thousand_nodes() -> None:
    """A node moved by a slip, one listed twice, a leaf of three, a leaf gone: each is told."""
    text = slurm().replace("leaf7 Nodes=gpu[00061-00070]", "leaf7 Nodes=gpu[00061-00070],gpu00100")
    text = text.replace("leaf9 Nodes=gpu[00081-00090]", "leaf9 Nodes=gpu[00081-00090],gpu00081")
    text = text.replace("Nodes=gpu[00501-00510]", "Nodes=gpu[00501-00503]")
    text = text.replace("SwitchName=leaf30 Nodes=gpu[00291-00300]\n", "")
    text = text.replace("spine2 Switches=leaf[26-50]", "spine2 Switches=leaf[26-29,31-50]")
    found = findings(described(text))
    assert found[FindingKind.NODE_IN_TWO_LEAVES].names == ("gpu00100",)
    assert found[FindingKind.NODE_TWICE].names == ("gpu00081",)
    assert found[FindingKind.UNEVEN_LEAVES].names == ("leaf10 (9)", "leaf51 (3)")
    assert found[FindingKind.LEAF_TOO_SMALL].names == ("leaf51 (3)",)
    assert found[FindingKind.ORDER_GAP].names == ("leaf29 and leaf31",)
    assert len(found) == 5


def test_racks_without_nodes_are_told() -> None:
    """A model of topograph lists an empty rack under its switch alone; Slurm gives it a line."""
    model = (
        "switches: {core: {switches: [r1, r2, r3]}}\n"
        "blocks: [{switch: r1, nodes: [n1, n2]}, {switch: r3, nodes: [n3, n4]}]\n"
    )
    conf = (
        "SwitchName=core Switches=r[1-3]\nSwitchName=r1 Nodes=n[1-2]\n"
        "SwitchName=r2\nSwitchName=r3 Nodes=n[3-4]\n"
    )
    for text in (model, conf):
        one = described(text)
        assert [(place.leaf, place.node) for place in one.positions] == [
            ("r1", "n1"), ("r1", "n2"), ("r3", "n3"), ("r3", "n4"),
        ]  # fmt: skip
        assert findings(one)[FindingKind.LEAF_WITHOUT_NODES].names == ("r2",)
