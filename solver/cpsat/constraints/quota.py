"""Quota: the GPUs of a namespace, running and placed, stay within `gpuQuota`."""

from __future__ import annotations

from collections import defaultdict

from fourleaf.model.gang import Gang
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.instance.cycle_state import CycleState


def new_gpus(gang: Gang) -> int:
    """GPUs of the members that are still to be placed."""
    return sum(role.request.gpus * len(role.pods) for role in gang.roles)


def quota_left(snapshot: Snapshot) -> dict[str, int]:
    """Namespace of a waiting gang -> GPUs it may still take, where there is a quota."""
    running: dict[str, int] = defaultdict(int)
    for pod in snapshot.running:
        running[pod.namespace] += pod.request.gpus
    left = {}
    for namespace in {gang.key.namespace for gang in snapshot.gangs}:
        quota = snapshot.config.spec.namespace(namespace).gpu_quota
        if quota is not None:
            left[namespace] = quota - running[namespace]
    return left


def add_quotas(program: Program, state: CycleState, placed: dict[str, Terms]) -> None:
    """One row per namespace with a quota; `placed` are its GPUs as an expression."""
    left = quota_left(state.snapshot)
    for namespace, terms in placed.items():
        if namespace in left:
            program.at_most(terms, max(0, left[namespace]))
