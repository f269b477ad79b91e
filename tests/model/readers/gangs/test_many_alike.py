"""Thousands of pods that mind each other: one answer for all that are alike, and an end to it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fourleaf.model.readers.gangs import mind_others
from fourleaf.model.readers.live import LiveReader
from fourleaf.model.readers.pods.constraint_text import MOST_CONSTRAINT_BYTES
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import only
from tests.model.readers.gangs.test_wishes import usable
from tests.model.readers.made import Body, node, pod, reading

NODES = [node(name) for name in "abcd"]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LIMIT = "MOST_COMPARISONS"


def repelling(name: str, app: str, selector: Body, **fields: Any) -> Body:
    """Make a pod of `app` that stands on no node with a pod that `selector` picks."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
    affinity = {"podAntiAffinity": {REQUIRED: [term]}}
    return pod(name, 0, labels={"app": app, app: "x"}, affinity=affinity, **fields)


def replica(name: str, **fields: Any) -> Body:
    """Make one of many of which no two share a node."""
    return repelling(name, "web", {"matchLabels": {"app": "web"}}, **fields)


def odd(number: int, **fields: Any) -> Body:
    """Make a pod that repels any with a label that none has, each another one."""
    selector = {"matchExpressions": [{"key": f"none-{number}", "operator": "Exists"}]}
    return repelling(f"odd-{number}", f"odd-{number}", selector, **fields)


def held(*bodies: Body) -> dict[str, ReasonKind]:
    """Gang -> why it is held, of those that are."""
    gangs = reading(*NODES, *bodies).snapshot.gangs
    return {gang.key.name: ReasonKind(gang.hold.kind) for gang in gangs if gang.hold is not None}


def test_replicas_are_compared_once_and_not_each_with_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside 200 that run, 200 wait for the first of them; 500 comparisons are enough, not 40,000.

    What they may use is what is left of four nodes by those that run on two of them.
    """
    monkeypatch.setattr(mind_others, LIMIT, 500)
    run = [replica(f"r-{i}", nodeName="ab"[i % 2], phase="Running") for i in range(200)]
    found = held(*run, *[replica(f"w-{i}") for i in range(200)])
    assert set(found.values()) == {ReasonKind.WAITS_FOR_GANG}
    assert len(found) == 199
    assert usable(*NODES, *run, replica("w-0")) == ["c", "d"]


def test_what_is_done_to_those_alike_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another pod comes to run on `c`: one replica goes ahead, and 199 wait for it as they did.

    Where they may go is worked out for one of them, and said to all; the reading after that, in
    which nothing of it is new, changes no gang at all.
    """
    live = LiveReader()
    for body in (*NODES, replica("r", nodeName="a", phase="Running")):
        live.put("", body["kind"], body)
    for i in range(200):
        live.put("", "Pod", replica(f"w-{i:03}"))
    live.reading(0.0)
    asked: Counter[str] = Counter()

    def count(said: str) -> None:
        was = getattr(mind_others, said)
        monkeypatch.setattr(mind_others, said, lambda *given: asked.update([said]) or was(*given))

    count("_change")
    count("_in_the_way")
    live.put("", "Pod", replica("s", nodeName="c", phase="Running"))
    before = live.reading(0.0).snapshot
    assert asked == {"_change": 200, "_in_the_way": 2}
    live.put("", "Pod", pod("t", nodeName="d", phase="Running"))
    after = live.reading(0.0).snapshot
    assert asked == {"_change": 200, "_in_the_way": 4}
    assert all(one is other for one, other in zip(before.gangs, after.gangs, strict=True))
    selects = after.gangs[0].roles[0].constraint.selects
    assert [name for name, one in after.fabric.nodes.items() if selects(one)] == ["b", "d"]


def test_who_causes_too_many_comparisons_is_held_and_no_one_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of sixty pods with terms of their own, those beyond the budget wait; another tenant's not."""
    monkeypatch.setattr(mind_others, LIMIT, 500)
    found = held(*[odd(i) for i in range(60)], odd(0, namespace="team"))
    assert set(found.values()) == {ReasonKind.NAMESPACE_LIMIT}
    assert 0 < len(found) < 60
    assert "odd-0" not in found


def test_a_bound_member_takes_no_node_from_its_own_gang() -> None:
    """Two members repel each other in name only by pods of others; the bound one counts not."""
    gang = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    one = replica("g-0", nodeName="a", phase="Running", annotations=gang)
    other = replica("x", nodeName="b", phase="Running")
    assert "b" not in usable(*NODES, one, other, replica("g-1", annotations=gang))


def test_constraints_that_are_too_long_are_held() -> None:
    """Where a pod spends more than 64 KiB on where it may go, it waits and is told so."""
    wanted = {"key": "zone", "operator": "In", "values": ["z" * MOST_CONSTRAINT_BYTES]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    hold = only(*NODES, pod(affinity={"nodeAffinity": {REQUIRED: terms}})).hold
    assert hold is not None
    assert hold.kind is ReasonKind.UNSUPPORTED
    assert "more than 64 KiB" in hold.detail
