"""A plan as a JSON document: what `plan -o json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourleaf.model.config.spec import API_VERSION
from fourleaf.model.devices.shares import shares
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus, Stage, Waiting
from fourleaf.model.reasons.json import reason_document
from fourleaf.model.reasons.pod_condition import ConditionReason
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot

NOTHING = Resources()

KIND = "Plan"

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds outside of the solver: reading the input, and everything together."""

    read: float = 0.0
    total: float = 0.0


def to_document(snapshot: Snapshot, plan: Plan, timings: Timings | None = None) -> Document:
    """`plan` as a document. Without `timings` all measurements are 0, so equal plans are equal.

    Bound and gap are null for a greedy plan: no better one was looked for.
    """
    measured = timings is not None
    greedy = plan.status is PlanStatus.GREEDY
    seconds = timings or Timings()
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "status": plan.status.value,
        "objective": plan.objective,
        "bound": None if greedy else plan.bound,
        "gap": plan.gap,
        "solver": "greedy" if greedy else "cp-sat",
        "seconds": {
            "read": round(seconds.read, 3),
            "build": round(plan.seconds_build, 3) if measured else 0.0,
            "solve": round(plan.seconds_solve, 3) if measured else 0.0,
            "total": round(seconds.total, 3),
        },
        "peakMemoryMiB": plan.peak_memory_mib if measured else 0,
        "note": plan.note,
        "gangs": [*_placed(snapshot, plan), *map(waiting_document, plan.waiting)],
        "moves": [
            {"namespace": m.namespace, "pod": m.pod, "from": m.source, "to": m.target, "why": m.why}
            for m in plan.moves
        ],
        "phantoms": [
            {"nodes": p.nodes, "gpus": p.gpus, "hosts": list(p.hosts), "value": p.value}
            for p in plan.phantoms
        ],
        "stages": [stage_document(stage, measured) for stage in plan.stages],
    }


def stage_document(stage: Stage, measured: bool = True) -> Document:
    """What is known of one stage; took 0 seconds unless it is to be `measured`."""
    return {
        "name": stage.name,
        "proven": stage.proven,
        "objective": stage.objective,
        "bound": stage.bound,
        "seconds": round(stage.seconds, 3) if measured else 0.0,
    }


def _placed(snapshot: Snapshot, plan: Plan) -> list[Document]:
    requests = {gang.key: gang.requests for gang in snapshot.gangs}
    devices = iter(_devices(snapshot, plan, requests))
    return [
        {
            "namespace": placement.gang.namespace,
            "name": placement.gang.name,
            "placed": True,
            "score": placement.score,
            "terms": dict(placement.terms),
            "pods": [
                {
                    "name": pod,
                    "node": node,
                    "gpus": requests.get(placement.gang, {}).get(pod, NOTHING).gpus,
                    "devices": list(next(devices)),
                }
                for pod, node in placement.pods
            ],
        }
        for placement in plan.placements
    ]


def _devices(
    snapshot: Snapshot, plan: Plan, requests: Mapping[GangKey, Mapping[str, Resources]]
) -> Sequence[tuple[int, ...]]:
    """The devices of every pod placed, in the order of the plan; none where they are not known."""
    seats = []
    for placement in plan.placements:
        for pod, node in placement.pods:
            request = requests.get(placement.gang, {}).get(pod, NOTHING)
            seats.append((node, (request.gpus, request.wants)))
    if snapshot.config.spec.devices.mode == "count":
        return [()] * len(seats)
    known = {node for node, _ in seats} & snapshot.fabric.nodes.keys()
    return shares(seats, {node: snapshot.devices_left(node) for node in known}).devices


def told_document(gang: GangKey, told: ConditionReason) -> Document:
    """A gang that waits, and why, as far as a condition says it: without numbers and misses."""
    kind = told.kind.value if told.kind else ""
    return {
        "namespace": gang.namespace,
        "name": gang.name,
        "placed": False,
        "reason": kind,
        "message": told.sentence,
        "detail": "",
        "counts": {},
        "near": [],
        "unblock": list(told.unblock),
    }


def waiting_document(waiting: Waiting) -> Document:
    """A gang that waits, and why."""
    return {
        "namespace": waiting.gang.namespace,
        "name": waiting.gang.name,
        "placed": False,
        **reason_document(waiting.reason),
    }
