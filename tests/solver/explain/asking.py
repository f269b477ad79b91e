"""What the tests of reasons ask, and small worlds to ask it of."""

from __future__ import annotations

from typing import Any

from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import GangKey
from fourleaf.model.node import Node
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain


def reasons(world: Snapshot, extensions: Extensions | None = None) -> dict[str, Reason]:
    """Reasons of the gangs that greedy leaves waiting, by name."""
    extensions = extensions or Extensions()
    plan = explain(world, greedy_plan(world, extensions), extensions)
    return {entry.gang.name: entry.reason for entry in plan.waiting}


def why(world: Snapshot, extensions: Extensions | None = None) -> Reason:
    """The reason of the only gang that waits."""
    (reason,) = reasons(world, extensions).values()
    return reason


def starts(world: Snapshot, extensions: Extensions | None = None) -> bool:
    """Whether greedy places every gang."""
    plan = greedy_plan(world, extensions or Extensions())
    return not plan.waiting


def pod(name: str, host: str, gpus: int = 8, **fields: Any) -> RunningPod:
    """Make a running pod of namespace `hpc`."""
    return RunningPod("hpc", name, host, **{"request": Resources(gpus=gpus), **fields})


def bert(*hosts: str, **fields: Any) -> tuple[RunningPod, ...]:
    """Make the running gang `hpc/bert` with a pod on each host."""
    key = GangKey("hpc", "bert")
    return tuple(pod(f"bert-{i}", host, gang=key, **fields) for i, host in enumerate(hosts))


def of_nodes(*nodes: Node) -> Fabric:
    """Make a fabric of these nodes, each in its leaf and spine."""
    leaves: dict[tuple[str, str], list[Node]] = {}
    for one in nodes:
        leaves.setdefault((one.leaf, one.spine), []).append(one)
    return Fabric(tuple(Leaf(*names, tuple(members)) for names, members in leaves.items()))
