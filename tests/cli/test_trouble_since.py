"""Since when a gang has lost members: older words about it are of another time."""

from __future__ import annotations

from math import inf

import pytest

from fourleaf.cli.cluster.trouble_since import BEFORE_SECONDS, DRAIN, trouble_since
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.relocation.evictions import drain_marks
from tests.model.readers.made import node

AT = 1_000_000_000.0


def ready(status: str) -> Body:
    """What the API says of a node since `AT`."""
    said = {"type": "Ready", "status": status, "lastTransitionTime": "2001-09-09T01:46:40Z"}
    return {"conditions": [said]}


DRAINED = node("n1", metadata={"name": "n1", "annotations": {DRAIN: "true"}})


@pytest.mark.parametrize(
    ("body", "silent", "since"),
    [
        (node("n1", status=node()["status"] | ready("Unknown")), {}, AT - BEFORE_SECONDS),
        (node("n1", status=node()["status"] | ready("True")), {"n1": 30.0}, AT + 70),
        (node("n1", spec={"unschedulable": True}), {}, None),
        (DRAINED, {}, -inf),
        (node("other"), {}, -inf),
        (node("n1", status={"conditions": [{"type": "Ready", "status": "False"}]}), {}, -inf),
    ],
    ids=["not ready", "silent", "cordoned", "drained", "gone", "without a moment"],
)
def test_the_trouble_of_a_node(body: Body, silent: dict[str, float], since: float | None) -> None:
    """What moves gangs away has a beginning or none that is known; a cordon moves no gang."""
    assert trouble_since([body], ["n1"], silent, AT + 100) == since


def test_the_first_of_several_counts() -> None:
    """Words about the node that was lost first are about the same loss still."""
    down = node("n1", status=node()["status"] | ready("False"))
    cordoned = node("n2", spec={"unschedulable": True})
    found = trouble_since([down, cordoned, node("n3")], ["n1", "n2", "n3"], {"n3": 1.0}, AT + 9)
    assert found == AT - BEFORE_SECONDS


def test_a_drain_is_marked_as_the_scheduler_reads_it() -> None:
    """One annotation, under one name."""
    assert DRAIN == drain_marks.DRAIN
