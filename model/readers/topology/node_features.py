"""Node features: what a node can do for data on its way to GPUs, and the labels that say so.

An operator may label a node with it; else what its agent found counts, as if it were the label.
"""

from __future__ import annotations

from fourleaf.model.crds.discovered_topology import DiscoveredTopology
from fourleaf.model.readers.objects.annotations import FEATURES, PREFIX

CUFILE, GPUDIRECT, INFINIBAND = FEATURES
HAS_IT = "true"
_UP = "Active"


def label_of(feature: str) -> str:
    """The label of nodes that says whether they have `feature`."""
    return PREFIX + feature


def features_in(topology: DiscoveredTopology) -> tuple[str, ...]:
    """The features that an agent found, by name."""
    up = [port for port in topology.ports if port.state == _UP]
    has = {
        CUFILE: "nvidia_fs" in topology.modules,
        GPUDIRECT: "nvidia_peermem" in topology.modules and bool(up),
        INFINIBAND: any(port.link_layer == "InfiniBand" for port in up),
    }
    return tuple(feature for feature in FEATURES if has[feature])
