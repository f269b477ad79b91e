"""Drains and defragmentations as documents."""

from __future__ import annotations

from typing import Any

from fourleaf.model.config.spec import API_VERSION
from fourleaf.model.documents.plan import stage_document, waiting_document
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move
from fourleaf.model.previews.defrag import DefragPreview
from fourleaf.model.previews.drain import Drained
from fourleaf.model.previews.ended_jobs import EndedJob
from fourleaf.model.relocation import DefragPlan, FreeLeaves, RepairPlan

Document = dict[str, Any]


def drain_document(answer: Drained) -> Document:
    """A dry run of `fourleaf drain`; `outcome` is Moves, Lost, Kept, Waits, Restarts or Stays.

    Whatever is not Moves or Restarts stays where it is: Lost has no other place, and of Kept pods
    that would have to go may not.
    """
    plan = answer.plan
    moving = [
        {**_named(key), "outcome": "Moves", "pods": [_pod(move) for move in moves]}
        for key, moves in answer.moves.items()
    ]
    lost = []
    for one in plan.lost:
        body = waiting_document(one) | {"outcome": "Kept" if one in answer.kept else "Lost"}
        del body["placed"]
        if one.gang in answer.tied:
            body["repairPolicy"] = answer.tied[one.gang].value
        lost.append(body)
    others = [{**_named(key), "outcome": "Waits"} for key in plan.waits]
    others += [{**_named(key), "outcome": "Restarts"} for key in plan.restarts]
    others += [
        {**_named(key), "outcome": "Stays", "withoutController": list(pods)}
        for key, pods in answer.staying.items()
    ]
    return {
        "apiVersion": API_VERSION,
        "kind": "Drain",
        "nodes": list(answer.nodes),
        **_facts(plan),
        "moves": answer.count,
        "repairEnabled": answer.enabled,
        "gangs": [*moving, *lost, *others],
        "unowned": list(answer.unowned),
        "others": list(answer.others),
        "endedJobs": [_ended(job) for job in answer.ended],
        "keptPlaces": [
            {**_named(key), "nodes": list(nodes)} for key, nodes in answer.promised.items()
        ],
    }


def defrag_document(answer: DefragPreview) -> Document:
    """A dry run of `fourleaf defrag`."""
    plan = answer.plan
    return {
        "apiVersion": API_VERSION,
        "kind": "Defragmentation",
        **_facts(plan),
        "budget": answer.budget,
        "movable": answer.movable,
        "young": answer.young,
        "moves": [
            {
                "gang": str(answer.gangs[move.namespace, move.pod]),
                "namespace": move.namespace,
                **_pod(move),
            }
            for move in plan.moves
        ],
        "start": [
            {**_named(one.gang), "pods": [{"name": p, "node": node} for p, node in one.pods]}
            for one in plan.placements
        ],
        "waiting": [waiting_document(one) for one in plan.waiting],
        "before": _room(plan.before),
        "after": _room(plan.after),
    }


def _facts(plan: RepairPlan | DefragPlan) -> Document:
    return {
        "status": plan.status.value,
        "cost": plan.cost,
        "objective": plan.objective,
        "bound": plan.bound,
        "stages": [stage_document(stage) for stage in plan.stages],
        "seconds": round(plan.seconds, 3),
        "peakMemoryMiB": plan.peak_memory_mib,
        "note": plan.note,
    }


def _named(key: GangKey) -> Document:
    return {"namespace": key.namespace, "name": key.name}


def _pod(move: Move) -> Document:
    return {"name": move.pod, "from": move.source, "to": move.target, "why": move.why}


def _ended(job: EndedJob) -> Document:
    return {
        "namespace": job.namespace,
        "name": job.name,
        "evicted": job.evicted,
        "failed": job.failed,
        "field": job.field,
        "value": job.limit,
    }


def _room(room: FreeLeaves) -> Document:
    return {"leaves": room.leaves, "pairs": room.pairs, "quads": room.quads}
