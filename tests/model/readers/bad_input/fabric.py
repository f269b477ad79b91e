"""Nodes and the fabric that they make."""

from __future__ import annotations

from tests.model.readers.bad_input.made import ANNOTATION, CONFIG, GPU, Case
from tests.model.readers.made import config, node

CASES: dict[str, Case] = {
    "node amount": (
        [node(status={"allocatable": {GPU: "-8"}})],
        "Node n1",
        f"status.allocatable[{GPU}]",
        "zero or more",
    ),
    "node of two GPU kinds": (
        [node(status={"allocatable": {GPU: 8, "amd.com/gpu": 8}})],
        "Node n1",
        "status.allocatable",
        "one GPU resource",
    ),
    "taint": (
        [node(spec={"taints": [{"key": "a", "effect": "Never"}]})],
        "Node n1",
        "spec.taints[0].effect",
        "NoSchedule",
    ),
    "failure rate": (
        [
            node(
                metadata={
                    "name": "n1",
                    "annotations": {"topology.scheduler/failure-rate": "12%"},
                }
            )
        ],
        "Node n1",
        ANNOTATION % "failure-rate",
        "0 to 1",
    ),
    "unknown preset": (
        [node(), config(topology={"preset": "gce"})],
        CONFIG,
        "spec.topology.preset",
        "gke",
    ),
    "levels of hosts alone": (
        [node(), config(topology={"levels": [{"nodeLabel": "kubernetes.io/hostname"}]})],
        CONFIG,
        "spec.topology.levels",
        "leaf switch",
    ),
    "uplink of no leaf": (
        [node(), config(network={"uplinks": {"leaf-9": "1Tb"}})],
        CONFIG,
        "spec.network.uplinks[leaf-9]",
        "leaf-1",
    ),
    "edge of no leaf": (
        [
            node(),
            config(topology={"adjacency": {"kind": "explicit", "edges": [["leaf-1", "leaf-9"]]}}),
        ],
        CONFIG,
        "spec.topology.adjacency.edges[0]",
        "leaf-1",
    ),
    "domain of no leaf": (
        [node(), config(namespaces={"ml": {"domains": ["leaf-9"]}})],
        CONFIG,
        "spec.namespaces[ml].domains",
        "leaf-1",
    ),
    "adjacency": (
        [config(topology={"adjacency": {"kind": "nearby"}})],
        CONFIG,
        "spec.topology.adjacency.kind",
        "consecutive",
    ),
}
