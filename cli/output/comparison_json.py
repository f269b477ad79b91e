"""Two plans side by side as a document: what `plan --what-if -o json` prints."""

from __future__ import annotations

from fourleaf.cli.output.documents import Document
from fourleaf.cli.output.score_json import decision_document
from fourleaf.model.config.spec import API_VERSION
from fourleaf.model.documents.plan import to_document, waiting_document
from fourleaf.model.readers.config_patch import differences
from fourleaf.model.scores.comparison import Comparison, GangChange, PlannedSnapshot
from fourleaf.model.scores.terms import shared_points


def comparison_document(comparison: Comparison) -> Document:
    """The changes of the config, of every gang and of every term, and both plans whole."""
    before, after = comparison.before, comparison.after
    changes = differences(before.snapshot.config, after.snapshot.config)
    room = {"before": shared_points(before.plan), "after": shared_points(after.plan)}
    return {
        "apiVersion": API_VERSION,
        "kind": "Comparison",
        "config": [{"field": name, "before": old, "after": new} for name, old, new in changes],
        "terms": _terms(comparison),
        "shared": [{"name": "fragmentation", "points": room}],
        "gangs": [_gang(change, comparison) for change in comparison.changes],
        "before": to_document(before.snapshot, before.plan),
        "after": to_document(after.snapshot, after.plan),
    }


def _terms(comparison: Comparison) -> list[Document]:
    before, after = comparison.terms_before, comparison.terms_after
    return [
        {
            "name": name,
            "value": {
                side: round(totals[name].value / 1000, 6) if name in totals else None
                for side, totals in (("before", before), ("after", after))
            },
            "points": {
                side: totals[name].points if name in totals else 0
                for side, totals in (("before", before), ("after", after))
            },
        }
        for name in dict.fromkeys((*before, *after))
    ]


def _gang(change: GangChange, comparison: Comparison) -> Document:
    document: Document = {
        "namespace": change.gang.namespace,
        "name": change.gang.name,
        "change": change.kind.value,
    }
    if change.before:
        document["from"] = _place(change.before, comparison.before)
    if change.after:
        document["to"] = _place(change.after, comparison.after)
    if change.decision:
        document["decided"] = decision_document(change.decision)
    if change.held:
        document["heldBefore"] = decision_document(change.held)
    if change.waiting:
        document["why"] = waiting_document(change.waiting)
    return document


def _place(pods: tuple[tuple[str, str], ...], outcome: PlannedSnapshot) -> Document:
    fabric = outcome.snapshot.fabric
    leaves = dict.fromkeys(fabric.leaves[fabric.leaf_of[node]].name for _, node in pods)
    return {"leaves": list(leaves), "nodes": [node for _, node in pods]}
