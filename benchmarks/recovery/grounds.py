"""What is tried: a gang of 8 on a spine of its own, which of its nodes die, what else is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.controlplane.fleet import FAKE, GPU, LEAF_LABEL, SPINE_LABEL, ready_condition

INDEX = "apps.kubernetes.io/pod-index"
SIZE = 8
"""Members of the gang, each of a whole node."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where there is room: leaves of `per_leaf` nodes; `filled` ones are taken by others.

    The gang stands on the first ones.
    """

    name: str
    leaves: int
    per_leaf: int
    filled: tuple[int, ...] = ()


GROUNDS = (
    Ground("in the leaf", 2, 10),
    Ground("next door", 4, 4),
    Ground("elsewhere", 5, 4, (2,)),
)
LOST = (1, 2, SIZE)
"""How many nodes of the gang die."""


@dataclass(frozen=True, slots=True)
class Site:
    """One run: a spine and a namespace that may use it alone."""

    ground: Ground
    number: int

    @property
    def spine(self) -> str:
        """The name of the spine, and of the namespace."""
        return f"{self.ground.name.replace(' ', '-')}-{self.number}"

    def node(self, leaf: int, number: int) -> str:
        """The name of a node."""
        return f"{self.spine}-{leaf}-{number}"

    def beyond(self) -> list[str]:
        """The nodes of the leaves on which the gang does not stand."""
        first = -(-SIZE // self.ground.per_leaf)
        return [
            self.node(leaf, number)
            for leaf in range(first, self.ground.leaves)
            for number in range(self.ground.per_leaf)
        ]

    def filled(self) -> list[str]:
        """The nodes of the leaves that stay taken."""
        return [
            self.node(leaf, number)
            for leaf in self.ground.filled
            for number in range(self.ground.per_leaf)
        ]

    def nodes(self) -> list[dict[str, Any]]:
        """Its Node objects."""
        return [
            _node(self.node(leaf, number), f"{self.spine}-{leaf}", self.spine)
            for leaf in range(self.ground.leaves)
            for number in range(self.ground.per_leaf)
        ]


def config(sites: Sequence[Site]) -> str:
    """The SchedulerConfig that keeps every namespace on its spine, and gangs of 8 adjacent."""
    domains = "\n".join(f"    {site.spine}: {{domains: [{site.spine}]}}" for site in sites)
    return (
        "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\nspec:\n"
        f"  namespaces:\n{domains}\n"
    )


def taker(node: str) -> dict[str, Any]:
    """A pod of somebody else that takes a whole node."""
    limits = {GPU: "8"}
    return {
        "metadata": {"name": f"taker-{node}"},
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": "other", "resources": {"limits": limits}}],
        },
    }


def member(index: int, number: int) -> dict[str, Any]:
    """The pod of that index of the gang; `number` tells it from those before it."""
    return {
        "metadata": {
            "name": f"gang-{index}-{number}",
            "labels": {INDEX: str(index)},
            "annotations": {
                "topology.scheduler/gang": "gang",
                "topology.scheduler/gang-size": str(SIZE),
                "topology.scheduler/repair-policy": "move",
            },
        },
        "spec": {
            "schedulerName": "topology-aware-scheduler",
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "train", "resources": {"limits": {GPU: "8"}}}],
        },
    }


def _node(name: str, leaf: str, spine: str) -> dict[str, Any]:
    room = {GPU: "8", "cpu": "192", "memory": "2Ti", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, SPINE_LABEL: spine, LEAF_LABEL: leaf}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": dict(FAKE), "labels": labels},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [ready_condition()],
            "phase": "Running",
        },
    }
