"""Scores as a document: what `score -o json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fourleaf.cli.output.documents import Document
from fourleaf.model.config.spec import API_VERSION
from fourleaf.model.documents.plan import waiting_document
from fourleaf.model.fabric import Fabric
from fourleaf.model.scores.decision import Decision
from fourleaf.model.scores.terms import GangScore, TermScore, shared_points
from fourleaf.model.weights import SCALE
from fourleaf.solver.explain.appraisal import Appraisal

if TYPE_CHECKING:
    from fourleaf.cli.answers import Scores


def scores_document(scores: Scores) -> Document:
    """All gangs asked for.

    `objective` is that of the plan: the points of all `PlacedNow` gangs and those that are shared.
    """
    fabric = scores.snapshot.fabric
    return {
        "apiVersion": API_VERSION,
        "kind": "Scores",
        "status": scores.plan.status.value,
        "objective": scores.plan.objective,
        "shared": [{"name": "fragmentation", "points": shared_points(scores.plan)}],
        "gangs": [_gang(one, fabric) for one in scores.gangs],
    }


def _gang(one: Appraisal, fabric: Fabric) -> Document:
    document: Document = {
        "namespace": one.gang.key.namespace,
        "name": one.gang.key.name,
        "state": one.state.value,
    }
    if one.waiting:
        document["why"] = waiting_document(one.waiting)
    if one.score:
        document["place"] = place_document(one.score, fabric)
    if one.other and one.decision:
        document["other"] = place_document(one.other, fabric)
        document["decided"] = decision_document(one.decision)
    return document


def place_document(score: GangScore, fabric: Fabric) -> Document:
    """A place and what it is worth: `score` per GPU in 0..1, `points` in all."""
    leaves = dict.fromkeys(fabric.leaves[fabric.leaf_of[node]].name for _, node in score.pods)
    return {
        "leaves": list(leaves),
        "pods": [{"name": pod, "node": node} for pod, node in score.pods],
        "score": score.points / SCALE / max(1, score.size),
        "points": score.points,
        "terms": [_term(term, score.size) for term in score.terms],
    }


def _term(term: TermScore, size: int) -> Document:
    return {
        "name": term.name,
        "raw": dict(term.raw),
        "value": term.value / SCALE,
        "weight": term.weight / SCALE,
        "weighted": term.points / SCALE / max(1, size),
        "points": term.points,
    }


def decision_document(one: Decision) -> Document:
    """What decided; differences in points."""
    document: Document = {"by": one.ground.value, "difference": one.difference}
    if one.term:
        document |= {"term": one.term, "termDifference": one.term_difference}
    if one.gangs:
        document["gangs"] = [str(key) for key in one.gangs]
    return document
