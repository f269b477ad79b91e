"""Cycles made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Outgoing, StatusPatch
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus, Waiting
from fourleaf.model.problems import Problem
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests import small

NOW = 1_000_000_000.0
"""2001-09-09T01:46:40Z."""

SHORT = Reason(
    ReasonKind.NO_FREE_CAPACITY,
    counts=(("needed", 2), ("free", 1)),
    unblock=("Free 1 node.", "wait for ml/old"),
)
SHORT_TEXT = (
    "NoFreeCapacity: not enough is free: needs 2 nodes, 1 is free. "
    "To unblock: Free 1 node; wait for ml/old."
)


def pod(name: str, node: str = "", conditions: Sequence[Body] = (), **more: Any) -> Body:
    """A pod of ours as a watch shows it; `more` are parts of its spec."""
    return {
        "metadata": {"namespace": "ml", "name": name, "uid": f"uid-{name}", "resourceVersion": "7"},
        "spec": {
            "schedulerName": "topology-aware-scheduler",
            **({"nodeName": node} if node else {}),
            **more,
        },
        "status": {"phase": "Pending", "conditions": list(conditions)},
    }


def pods_of(gang: Gang) -> list[Body]:
    """Its pods, none of them bound."""
    return [pod(name) for role in gang.roles for name in role.pods]


def facts(
    gangs: Sequence[Gang] = (),
    bodies: Iterable[Body] = (),
    *,
    reasons: Sequence[Reason] = (),
    placed: Sequence[Gang] = (),
    groups: Iterable[tuple[Kind, Body]] = (),
    problems: tuple[Problem, ...] = (),
    now: float = NOW,
) -> CycleFacts:
    """A cycle in which `gangs` wait for `reasons`, `SHORT` for those that have none."""
    why = [*reasons, *([SHORT] * (len(gangs) - len(reasons)))]
    objects: dict[Kind, dict[tuple[str, str], Body]] = {PODS: {}}
    for kind, body in [*((PODS, body) for body in bodies), *groups]:
        metadata = body["metadata"]
        objects.setdefault(kind, {})[metadata["namespace"], metadata["name"]] = body
    snapshot = small.snapshot(small.fabric([[2]]), *gangs, *placed)
    plan = Plan(
        PlanStatus.OPTIMAL,
        tuple(Placement(one.key, small.seats(one, ["a0"] * one.roles[0].size)) for one in placed),
        tuple(Waiting(one.key, reason) for one, reason in zip(gangs, why, strict=True)),
    )
    return CycleFacts(snapshot, plan, objects, problems, now)


def statuses(tells: Iterable[Outgoing]) -> list[StatusPatch]:
    """The statuses among `tells`."""
    return [tell for tell in tells if isinstance(tell, StatusPatch)]


def events(tells: Iterable[Outgoing]) -> list[Event]:
    """The events among `tells`."""
    return [tell for tell in tells if isinstance(tell, Event)]


def key(name: str) -> GangKey:
    """Name a gang of the team `ml`."""
    return GangKey("ml", name)
