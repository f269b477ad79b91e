"""What a case loads: a fabric, and gangs that fill 95 % of it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.fleet import LEAF_LABEL, Fleet

NAMESPACE = "bench"
PAIR_LABEL = "fourleaf.test/pair"
QUAD_LABEL = "fourleaf.test/quad"
"""Aligned pairs and quads of leaves, which native needs as labels to keep a gang together."""

DOMAINS = {2: LEAF_LABEL, 4: LEAF_LABEL, 8: PAIR_LABEL, 16: QUAD_LABEL}
"""The label within whose domain native has to keep a gang of that many whole nodes."""

WHOLE = 8
"""GPUs of a pod: all of its node."""


@dataclass(frozen=True, slots=True)
class Case:
    """So many equal nodes, and gangs by their number of pods, each of which takes a node.

    The largest gangs come first, the order in which aligned domains hold them all, unless
    they come `shuffled`.
    """

    nodes: int
    mix: Mapping[int, int]
    shuffled: bool = False

    @property
    def gangs(self) -> int:
        """How many gangs there are."""
        return sum(self.mix.values())

    @property
    def pods(self) -> int:
        """How many pods they have."""
        return sum(size * count for size, count in self.mix.items())


_THOUSAND = {16: 18, 8: 33, 4: 55, 2: 58, 1: 62}

CASES = {
    "64": Case(64, {16: 1, 8: 2, 4: 4, 2: 5, 1: 3}),
    "1000": Case(1000, _THOUSAND),
    "1000-shuffled": Case(1000, _THOUSAND, shuffled=True),
    "5000": Case(5000, {16: 90, 8: 165, 4: 275, 2: 330, 1: 230}),
}


@dataclass(frozen=True, slots=True)
class Gang:
    """A gang: its name, and how many pods it has."""

    name: str
    size: int

    def pods(self) -> list[str]:
        """The names of its pods, in rank order."""
        return [f"{self.name}-{rank}" for rank in range(self.size)]


def gangs(case: Case, seed: int) -> list[Gang]:
    """All gangs of `case` in the order in which they come; `seed` shuffles them."""
    sizes = [size for size in sorted(case.mix, reverse=True) for _ in range(case.mix[size])]
    if case.shuffled:
        random.Random(seed).shuffle(sizes)  # noqa: S311 - an order, not a secret
    return [Gang(f"g{number:04}", size) for number, size in enumerate(sizes)]


def fabric(count: int) -> list[dict[str, Any]]:
    """Node objects: leaves of 4, spines of 8 leaves, and labels of aligned pairs and quads."""
    fleet = Fleet(count)
    nodes = fleet.objects()
    for number, node in enumerate(nodes):
        leaf = number // fleet.per_leaf
        labels = node["metadata"]["labels"]
        labels[PAIR_LABEL] = f"pair-{leaf // 2}"
        labels[QUAD_LABEL] = f"quad-{leaf // 4}"
    return nodes


def pod(
    name: str,
    scheduler: str,
    group: str = "",
    annotations: Mapping[str, str] | None = None,
    gpus: int = WHOLE,
) -> dict[str, Any]:
    """A pod of one container, which takes a whole node unless it wants fewer `gpus`."""
    spec: dict[str, Any] = {
        "schedulerName": scheduler,
        "containers": [container(gpus)],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
    }
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    metadata = {"name": name, "annotations": dict(annotations or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def pod_group(gang: Gang, domain: str = "") -> dict[str, Any]:
    """The PodGroup of a gang; with `domain`, all its pods share the value of that label."""
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": gang.size}}}
    if domain:
        spec["schedulingConstraints"] = {"topology": [{"key": domain}]}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": gang.name},
        "spec": spec,
    }
