"""Selectors of many labels and expressions, and many terms together: what it takes is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fourleaf.model.readers.gangs import kept_apart, mind_others
from fourleaf.model.readers.pods.label_selector import LabelSelector
from fourleaf.model.readers.pods.preferences import PREFERRED
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import only
from tests.model.readers.gangs.test_many_alike import LIMIT, REQUIRED
from tests.model.readers.gangs.test_terms_of_others import HOST, NODES, honest, repels
from tests.model.readers.gangs.test_wishes import in_zones
from tests.model.readers.made import Body, pod, reading

LONG = 200
"""Expressions of a selector, of which 256 may be in one pod."""

SAID = "topology.scheduler/"


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many expressions and labels each comparison with a pod looked through at most."""
    found: list[int] = []
    was = LabelSelector.picks

    def picks(one: LabelSelector, labels: Mapping[str, str]) -> bool:
        found.append(len(one.expressions) + len(one.labels))
        return was(one, labels)

    monkeypatch.setattr(LabelSelector, "picks", picks)
    return found


def none_of(count: int, stem: str) -> Body:
    """Make a selector of so many labels that no pod has, which picks all pods."""
    keys = (f"{stem}-{i}" for i in range(count))
    return {"matchExpressions": [{"key": key, "operator": "DoesNotExist"} for key in keys]}


def term(selector: Body, key: str = "zone") -> Body:
    """Make a term about pods of all namespaces."""
    return {"topologyKey": key, "namespaceSelector": {}, "labelSelector": selector}


def apart(count: int, stem: str) -> Body:
    """Make the part of a spec that keeps a pod from others."""
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term(none_of(count, stem))]}}}


def rather_apart(count: int, stem: str) -> Body:
    """Make the part of a spec that would rather keep a pod from others."""
    weighted = {"weight": 1, "podAffinityTerm": term(none_of(count, stem))}
    return {"affinity": {"podAntiAffinity": {PREFERRED: [weighted]}}}


def spread(count: int, stem: str) -> Body:
    """Make the part of a spec that would rather spread a pod."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": none_of(count, stem),
    }
    return {"topologySpreadConstraints": [constraint]}


def running(count: int, namespace: str = "ml") -> list[Body]:
    """Make so many pods that run."""
    labels = {"app": "honest"}
    return [
        pod(f"r-{i}", 0, namespace=namespace, nodeName="a", phase="Running", labels=labels)
        for i in range(count)
    ]


@pytest.mark.parametrize("part", [apart, rather_apart, spread], ids=lambda one: one.__name__)
def test_selectors_of_waiting_pods_count_by_their_length(
    monkeypatch: pytest.MonkeyPatch, looked: list[int], part: Any
) -> None:
    """Of sixty pods beside fifty, few have 200 expressions looked through; one each all have."""
    monkeypatch.setattr(mind_others, LIMIT, 20_000)

    def entries(count: int) -> int:
        looked.clear()
        gangs = reading(
            *in_zones(a="z1", b="z2"),
            *running(50),
            *(pod(f"w-{n:02}", 0, **part(count, f"k{n}")) for n in range(60)),
            honest(),
        ).snapshot.gangs
        assert [one.hold for one in gangs if one.key.name == "h"] == [None]
        return sum(looked)

    assert entries(1) >= 60 * 50
    # 20,000 comparisons of four each, and the pod that is looked at beyond them.
    assert 0 < entries(LONG) < 4 * 20_000 + 2 * 50 * LONG


@pytest.mark.parametrize("is_of_labels", [False, True])
def test_selectors_of_running_pods_count_by_their_length(
    monkeypatch: pytest.MonkeyPatch, looked: list[int], is_of_labels: bool
) -> None:
    """Two terms of 200 expressions or labels are as long as 102 comparisons: 100 may be."""
    monkeypatch.setattr(kept_apart, "MOST_FOREIGN_COMPARISONS", 100)
    evil = repels("r", *({"key": f"k{n}", "operator": "DoesNotExist"} for n in range(2)))
    terms = evil["spec"]["affinity"]["podAntiAffinity"][REQUIRED]
    for n, one in enumerate(terms):
        one["labelSelector"] = none_of(LONG, f"k{n}")
        if is_of_labels:
            labels = {f"k{n}-{i}": "" for i in range(LONG)}
            one["labelSelector"] = {"matchLabels": {"app": "honest"} | labels}
    (gang,) = reading(*NODES, evil, honest()).snapshot.gangs
    fabric = reading(*NODES).snapshot.fabric
    selects = gang.roles[0].constraint.selects
    assert [one.name for one in fabric.nodes.values() if selects(one)] == ["b", "c", "d"]
    assert not looked


def members(count: int, parts: Sequence[Body]) -> list[Body]:
    """Make a gang of so many members, each with its part of a spec."""
    said = {f"{SAID}gang": "g", f"{SAID}gang-size": str(count)}
    return [
        pod(f"g-{i}", 0, annotations=said, labels={"n": str(i)}, **parts[i]) for i in range(count)
    ]


def test_selectors_within_a_gang_count_by_their_length(looked: list[int]) -> None:
    """Thirty members of 200 expressions each would be 45,900 comparisons; of one each, 900."""

    def parts(expressions: int) -> list[Body]:
        found = []
        for n in range(30):
            selector = none_of(expressions, f"k{n}")
            selector["matchExpressions"].append({"key": "gone", "operator": "Exists"})
            one = {"topologyKey": HOST, "labelSelector": selector}
            found.append({"affinity": {"podAntiAffinity": {REQUIRED: [one]}}})
        return found

    assert only(*NODES, *members(30, parts(1))).hold is None
    looked.clear()
    hold = only(*NODES, *members(30, parts(LONG))).hold
    assert hold is not None
    assert "30 different terms of anti-affinity among 30 members" in hold.detail
    assert "by the length of their selectors they count as 1,530" in hold.detail
    assert len(looked) <= 30


def near(terms: int, stem: str) -> Body:
    """Make the part of a spec that wants the pods near that all of so many terms pick."""
    some = [term(none_of(1, f"{stem}-{t}"), HOST) for t in range(terms)]
    return {"affinity": {"podAffinity": {REQUIRED: some}}}


def test_all_terms_of_what_is_wanted_near_count(
    monkeypatch: pytest.MonkeyPatch, looked: list[int]
) -> None:
    """Of sixty pods with 32 terms each beside fifty, few are looked at; with one each all are."""
    monkeypatch.setattr(mind_others, LIMIT, 12_000)

    def limited(terms: int) -> int:
        looked.clear()
        gangs = reading(
            *NODES, *running(50), *(pod(f"w-{n:02}", 0, **near(terms, f"k{n}")) for n in range(60))
        ).snapshot.gangs
        kinds = [one.hold.kind for one in gangs if one.hold is not None]
        return kinds.count(ReasonKind.NAMESPACE_LIMIT)

    assert limited(1) == 0
    assert limited(32) >= 55
    assert len(looked) < 12_000


def test_of_what_is_wanted_near_the_narrowest_term_is_looked_for_first(looked: list[int]) -> None:
    """It names one app among fifty pods that another term picks all: one pod is compared."""
    narrow = term({"matchLabels": {"app": "rare"}})
    wide = [term(none_of(1, f"k{n}")) for n in range(3)]
    affinity = {"podAffinity": {REQUIRED: [*wide, narrow]}}
    rare = pod("rare", 0, nodeName="b", phase="Running", labels={"app": "rare"})
    wanting = pod("w", 0, affinity=affinity)
    found = reading(*in_zones(a="z1", b="z2"), *running(50), rare, wanting).snapshot
    selects = found.gangs[0].roles[0].constraint.selects
    assert [one.name for one in found.fabric.nodes.values() if selects(one)] == ["b"]
    assert len(looked) == 4


@pytest.mark.parametrize("beside", ["pods that run", "pods that wait"])
def test_a_gang_of_very_many_comparisons_is_not_looked_at_to_its_end(
    monkeypatch: pytest.MonkeyPatch, looked: list[int], beside: str
) -> None:
    """Forty members each have fifty pods compared with ten terms: 2,000 of 20,000 may be."""
    monkeypatch.setattr(mind_others, "MOST_OF_ONE_GANG", 2_000)
    monkeypatch.setattr(kept_apart, "NEW_TERM_COMPARISONS", 0)
    monkeypatch.setattr(mind_others, "KIND_COMPARISONS", 0)
    parts = []
    for n in range(40):
        some = [term(none_of(1, f"k{n}-{t}"), HOST) for t in range(10)]
        for one in some:
            del one["namespaceSelector"]
            one["labelSelector"]["matchExpressions"].append({"key": "app", "operator": "Exists"})
        parts.append({"affinity": {"podAntiAffinity": {REQUIRED: some}}})
    others = running(50)
    if beside == "pods that wait":
        others = [pod(f"a-{n:02}", 0, priority=9, labels={"app": str(n)}) for n in range(50)]
    gangs = reading(*NODES, *others, *members(40, parts)).snapshot.gangs
    (gang,) = (one for one in gangs if one.key.name == "g")
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.NAMESPACE_LIMIT
    # Beside those of members with each other, which are counted for themselves.
    assert len(looked) - 40 * 400 - 400 < 2_000 + 2 * 500
