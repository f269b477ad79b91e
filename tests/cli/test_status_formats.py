"""In which formats the records are, as an operator reads it in an upgrade or a rollback."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fourleaf.cli.cluster.read_cluster import Live
from fourleaf.cli.render.status import cluster_lines, server_lines
from fourleaf.cli.verbs.status import document_of
from fourleaf.k8s_bridge.ledger.format_usage import LedgerUse
from fourleaf.k8s_bridge.ledger.formats.codec import page_body
from fourleaf.k8s_bridge.ledger.names import FORMAT
from fourleaf.k8s_bridge.ledger.records import Page
from fourleaf.k8s_bridge.ledger.sealed import Sealed
from fourleaf.k8s_bridge.reporting.status import Status, status_document
from tests.model.readers.made import pod

NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n0", "labels": {"fabric.topograph.run/tier-0": "leaf-0"}},
    "status": {
        "allocatable": {"nvidia.com/gpu": "8", "cpu": "8", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
NOBODY = {"holder": "", "epoch": 0, "renewed": "", "seconds": 0.0, "valid": False}


def test_records_are_counted_by_format() -> None:
    """Two pages of format 1, one of format 2, and one of a format that nobody here reads."""
    bodies = [page_body(Page("leaf-0", part, (), format=1 + part // 2), "me") for part in range(4)]
    bodies[3]["metadata"]["annotations"][FORMAT] = "3"
    document = document_of(Live((NODE,), 0.0, tuple(bodies)), NOBODY)
    assert document["records"]["formats"] == {"1": 2, "2": 1, "3": 1}
    assert (document["records"]["pages"], document["records"]["unreadable"]) == (3, 1)


@pytest.mark.parametrize(
    ("use", "line"),
    [
        (LedgerUse(1, {1: 12}), "all records are format 1; writes 1"),
        (LedgerUse(2, {1: 3, 2: 9}), "mixed: 3 of format 1, 9 of format 2; writes 2"),
        (
            LedgerUse(1, {1: 12}, (Sealed("page-x", "page", "2", "unknown"),)),
            "all that can be read are format 1; writes 1; 1 record cannot be read by this version",
        ),
        (LedgerUse(1, {}), "no records yet; writes 1"),
    ],
)
def test_what_the_leader_says(use: LedgerUse, line: str) -> None:
    """One line: the formats in use, the one that is written, and what cannot be read."""
    status = Status("a", "0", True, "a", 1, 0.0, ledger=use)
    lines = [text.plain for text in server_lines(status_document(status), 0.0)]
    assert f"format      {line}" in lines


def test_gangs_on_lost_nodes_are_named() -> None:
    """One has a pod on a node that is not ready, another on one that is gone.

    A third one has a pod there that is to end, as it was repaired.
    """
    down = copy.deepcopy(NODE) | {"metadata": {"name": "n1", "labels": NODE["metadata"]["labels"]}}
    down["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    pods = [pod(name, nodeName=where) for name, where in (("a", "n0"), ("b", "n1"), ("c", "n9"))]
    gone = pod("d", nodeName="n1")
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    document = document_of(Live((NODE, down, *pods, gone), 0.0), NOBODY)
    assert document["gangs"]["onLostNodes"] == ["ml/b", "ml/c"]
    lines = [text.plain for text in cluster_lines(document, 0.0)]
    assert (
        "            pods on nodes that are not ready: ml/b and ml/c; see `fourleaf why`" in lines
    )


def test_who_does_not_lead_says_nothing_of_formats() -> None:
    """It has no records in mind."""
    status = Status("a", "0", False, "b", 0, 0.0)
    lines = [text.plain for text in server_lines(status_document(status), 0.0)]
    assert not [line for line in lines if line.startswith("format")]
