"""Gangs of the scenarios: plain pods that name their gang."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fourleaf.k8s_bridge.cluster.memory.actors import container

SCHEDULER = "topology-aware-scheduler"
PREFIX = "topology.scheduler"


@dataclass(frozen=True, slots=True)
class Gang:
    """`pods` pods of `gpus` GPUs each that run together or not at all."""

    namespace: str
    name: str
    pods: int
    gpus: int = 8

    @property
    def names(self) -> list[str]:
        """The names of its pods."""
        return [f"{self.name}-{i}" for i in range(self.pods)]

    def body(self, i: int, **annotations: str) -> dict[str, Any]:
        """Pod number `i`."""
        gang = {f"{PREFIX}/gang": self.name, f"{PREFIX}/gang-size": str(self.pods)}
        return {
            "metadata": {"name": self.names[i], "annotations": {**gang, **annotations}},
            "spec": {
                "schedulerName": SCHEDULER,
                "terminationGracePeriodSeconds": 0,
                "restartPolicy": "Never",
                "containers": [container(self.gpus)],
            },
        }
