"""Labels become leaves and spines: presets, detection, unique names, natural order."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from fourleaf.model.config.spec import Level, Topology
from fourleaf.model.config.topology_presets import PRESETS
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources
from fourleaf.model.topology import (
    ONLY_SPINE,
    Levels,
    Place,
    build_fabric,
    choose_levels,
    equal_presets,
    levels_of,
    natural_key,
    place_of,
    unique_names,
)


@pytest.mark.parametrize(
    ("preset", "labels", "spine", "leaf"),
    [
        ("plain", {"topology.scheduler/spine": "s", "topology.scheduler/leaf": "l"}, "s", "l"),
        (
            "topograph",
            {"fabric.topograph.run/tier-1": "s", "fabric.topograph.run/tier-0": "l"},
            "s",
            "l",
        ),
        (
            "nvidia-legacy",
            {
                "network.topology.nvidia.com/core": "c",
                "network.topology.nvidia.com/spine": "s",
                "network.topology.nvidia.com/leaf": "l",
            },
            "s",
            "l",
        ),
        (
            "nvidia-legacy",
            {
                "network.topology.nvidia.com/datacenter": "c",
                "network.topology.nvidia.com/spine": "s",
                "network.topology.nvidia.com/block": "l",
            },
            "s",
            "l",
        ),
        (
            "gke",
            {
                "cloud.google.com/gce-topology-block": "s",
                "cloud.google.com/gce-topology-subblock": "l",
                "cloud.google.com/gce-topology-host": "h",
            },
            "s",
            "l",
        ),
        (
            "eks",
            {f"topology.k8s.aws/network-node-layer-{i}": name for i, name in enumerate("csl", 1)},
            "s",
            "l",
        ),
        (
            "oci",
            {
                "oci.oraclecloud.com/rdma.hpc_island_id": "c",
                "oci.oraclecloud.com/rdma.network_block_id": "s",
                "oci.oraclecloud.com/rdma.local_block_id": "l",
            },
            "s",
            "l",
        ),
        (
            "nebius",
            {
                "topology.nebius.com/gpu-cluster-id": "c",
                "topology.nebius.com/tier-2": "s",
                "topology.nebius.com/tier-1": "l",
            },
            "s",
            "l",
        ),
        (
            "aks",
            {"topology.kubernetes.io/zone": "s", "kubernetes.azure.com/agentpool": "l"},
            "s",
            "l",
        ),
    ],
)
def test_preset_named_and_detected(
    preset: str, labels: dict[str, str], spine: str, leaf: str
) -> None:
    """Each preset finds leaf and spine, both when it is named and when none is."""
    for config in (Topology(preset=preset), Topology()):
        levels = choose_levels(config, [labels])
        assert levels is not None
        place = place_of(levels, labels)
        assert (place.spine, place.leaf) == (spine, leaf)


def test_the_preset_of_most_nodes_wins() -> None:
    """Two nodes with topograph labels outvote one with EKS labels."""
    labels = [{"fabric.topograph.run/tier-0": "a"}] * 2
    labels += [{"topology.k8s.aws/network-node-layer-3": "b"}]
    levels = choose_levels(Topology(), labels)
    assert levels is not None
    assert levels.leaf == "fabric.topograph.run/tier-0"


def test_of_presets_that_draw_the_first_is_used() -> None:
    """Topograph's labels stand before those of EKS, and both are named."""
    both = {"fabric.topograph.run/tier-0": "a", "topology.k8s.aws/network-node-layer-3": "b"}
    assert equal_presets([both]) == ("topograph", "eks")
    levels = choose_levels(Topology(), [both])
    assert levels is not None
    assert levels.leaf == "fabric.topograph.run/tier-0"


def test_pools_of_a_cloud_are_leaves_where_no_switch_is_named() -> None:
    """Each node of AKS has its pool; one node with topograph's label tells more."""
    pools = [{"kubernetes.azure.com/agentpool": "gpu"}] * 3
    assert equal_presets(pools) == ("aks",)
    known = [*pools, {**pools[0], "fabric.topograph.run/tier-0": "a"}]
    assert equal_presets(known) == ("topograph",)


def test_no_known_label_is_no_levels() -> None:
    """Nodes without any known label give nothing to go by."""
    assert choose_levels(Topology(), [{"kubernetes.io/hostname": "n"}]) is None


def test_unknown_preset_lists_the_known() -> None:
    """The config is refused, and the advice names every preset."""
    with pytest.raises(ValidationError) as caught:
        Topology(preset="azure")
    (error,) = caught.value.errors()
    assert error["loc"] == ("preset",)
    assert all(name in error["ctx"]["error"].advice for name in PRESETS)


def test_levels_of_hosts_alone_are_refused() -> None:
    """A host is finer than a leaf."""
    with pytest.raises(ValidationError, match="names no level above the host"):
        Topology(levels=(Level(node_label="kubernetes.io/hostname"),))


def test_hosts_are_never_leaves() -> None:
    """In Kueue's shape the finest level is the host; the one above it is the leaf."""
    labels = ["dc", "block", "rack", "kubernetes.io/hostname"]
    assert levels_of(labels) == Levels("rack", "block", ("dc",))
    levels = choose_levels(Topology(levels=tuple(Level(node_label=x) for x in labels)), [])
    assert levels == Levels("rack", "block", ("dc",))


def test_one_level_has_one_spine() -> None:
    """With a single level all leaves stand under one spine."""
    levels = levels_of(["rack", "kubernetes.io/hostname"])
    assert place_of(levels, {"rack": "r1"}) == Place((), ONLY_SPINE, "r1")


def test_names_are_qualified_where_they_clash() -> None:
    """Leaf 1 stands under spines a and b; spine a stands in x and y."""
    places = [Place(("x",), "a", "1"), Place(("y",), "a", "2"), Place(("x",), "b", "1")]
    assert unique_names(places) == {
        places[0]: ("x/a/1", "x/a"),
        places[1]: ("2", "y/a"),
        places[2]: ("b/1", "b"),
    }


@pytest.mark.parametrize(
    "names",
    [
        ["leaf-1", "leaf-2", "leaf-10"],
        ["a", "a1", "a1b", "a1b2", "a1b10", "b"],
        ["r1-l9", "r1-l10", "r2-l1"],
        ["9" * 40, "1" + "0" * 5000],
    ],
)
def test_natural_order(names: list[str]) -> None:
    """Numbers inside names count as numbers, however long."""
    backwards = [*reversed(names)]
    assert sorted(backwards, key=natural_key) == names


def test_fabric_in_natural_order() -> None:
    """Spines, leaves and nodes are each in natural order, whatever the input's order."""
    nodes = [
        Node(name, leaf, spine, Resources(gpus=8))
        for name, leaf, spine in [
            ("n10", "leaf-2", "s1"),
            ("n9", "leaf-2", "s1"),
            ("n1", "leaf-10", "s1"),
            ("n2", "leaf-1", "s10"),
            ("n3", "leaf-3", "s2"),
        ]
    ]
    fabric = build_fabric(nodes, Topology(), {"leaf-10": 400}, 100)
    assert [leaf.name for leaf in fabric.leaves] == ["leaf-2", "leaf-10", "leaf-3", "leaf-1"]
    assert list(fabric.spines) == ["s1", "s2", "s10"]
    assert [node.name for node in fabric.leaves[0].nodes] == ["n9", "n10"]
    assert [leaf.uplink for leaf in fabric.leaves] == [100, 400, 100, 100]
