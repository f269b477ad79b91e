"""Nodes that a pod prefers for the pods that run: near some, apart from others, spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fourleaf.model.node_constraint import Operator, Preference, Requirement
from fourleaf.model.readers.gangs import mind_others, preferred_places
from tests.model.readers.gangs.made import only
from tests.model.readers.gangs.test_near_others import ZONES, runs
from tests.model.readers.made import Body, pod, reading

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def would_be(kind: str, app: str, weight: int = 40) -> Body:
    """A pod that would rather be near pods of `app` in its zone, or apart from them."""
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}}
    weighted = {"weight": weight, "podAffinityTerm": term}
    return pod("p", affinity={kind: {PREFERRED: [weighted]}})


def preferences(*bodies: Body) -> tuple[Preference, ...]:
    """Those of the one gang among nodes a and b in zone z1, c in z2, d in z3."""
    gang = only(*ZONES, *bodies)
    assert gang.hold is None
    return gang.roles[0].preferences


def zones(operator: Operator, *values: str) -> Requirement:
    """A condition on the label zone."""
    return Requirement("zone", operator, values)


def test_a_zone_near_a_pod_is_preferred() -> None:
    """The cache runs in z1."""
    found = preferences(runs("cache", "b", "cache"), would_be("podAffinity", "cache"))
    assert found == (Preference(40, (zones(Operator.IN, "z1"),)),)


def test_zones_apart_from_pods_are_preferred() -> None:
    """Noisy pods run in z1 and z3."""
    noisy = [runs("one", "a", "noisy"), runs("two", "d", "noisy")]
    found = preferences(*noisy, would_be("podAntiAffinity", "noisy"))
    assert found == (Preference(40, (zones(Operator.NOT_IN, "z1", "z3"),)),)


def test_where_no_such_pod_runs_all_nodes_are_alike() -> None:
    """Neither near nor apart says anything of any node."""
    for kind in ("podAffinity", "podAntiAffinity"):
        assert preferences(would_be(kind, "cache")) == ()


def test_spread_that_need_not_be_met_is_a_preference() -> None:
    """Two run in z1, one in z2 and none in z3: a third in z1 is two too many, in z2 one."""
    constraint: dict[str, Any] = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "a"}},
    }
    waits = pod("p", labels={"app": "a"}, topologySpreadConstraints=[constraint])
    there = [runs("one", "a"), runs("two", "b"), runs("three", "c")]
    assert preferences(*there, waits) == (Preference(100, (zones(Operator.IN, "z3"),)),)


LIMITS = {"MOST_COMPARISONS": 1000, "KIND_COMPARISONS": 0}
"""With these, what preferences cost is all that counts."""


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand comparisons are all that a namespace may cause."""
    for name, value in LIMITS.items():
        monkeypatch.setattr(mind_others, name, value)


def counting(prefers: Mapping[str, Body]) -> list[str]:
    """The names of those pods whose preferences count, of which each prefers something else."""
    waits = []
    for name, spec in prefers.items():
        waits.append(pod(name, 0, labels={"app": "a"}, **spec))
    found = reading(*ZONES, runs("cache", "b", "cache"), *waits).snapshot.gangs
    assert not [gang for gang in found if gang.hold is not None]
    return [gang.key.name for gang in found if gang.roles[0].preferences]


def near_cache(*others: str) -> Body:
    """Prefers to be near the cache, and near pods that are not there."""
    terms = [
        {
            "weight": 40,
            "podAffinityTerm": {
                "topologyKey": "zone",
                "labelSelector": {"matchLabels": {"app": app}},
            },
        }
        for app in ("cache", *others)
    ]
    return {"affinity": {"podAffinity": {PREFERRED: terms}}}


@pytest.mark.usefixtures("_few")
def test_preferred_terms_of_pods_that_are_not_there_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 100 for a new term, 1,000 allow five pods of two that are their own, and the next.

    Beyond that preferences count for nothing, and no pod is held for it.
    """
    monkeypatch.setattr(preferred_places, "NEW_TERM_COMPARISONS", 100)
    monkeypatch.setattr(mind_others, "TERM_COMPARISONS", 0)
    found = counting({f"p-{n:02}": near_cache(f"x-{n}", f"y-{n}") for n in range(20)})
    assert found == [f"p-{n:02}" for n in range(5)]


@pytest.mark.usefixtures("_few")
def test_preferred_terms_count_though_others_have_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 100 for a term, 1,000 allow four pods of three terms, though all of them are alike."""
    monkeypatch.setattr(preferred_places, "NEW_TERM_COMPARISONS", 0)
    monkeypatch.setattr(mind_others, "TERM_COMPARISONS", 100)
    found = counting({f"p-{n:02}": near_cache("x", "y") for n in range(20)})
    assert found == [f"p-{n:02}" for n in range(4)]
    assert counting({"p": near_cache("x", "y")}) == ["p"]


@pytest.mark.usefixtures("_few")
def test_preferred_spread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 300 for a constraint, 1,000 allow four pods of one."""
    monkeypatch.setattr(mind_others, "SPREAD_COMPARISONS", 300)
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "cache"}},
    }
    same: Body = {"topologySpreadConstraints": [constraint]}
    found = counting({f"p-{n:02}": same for n in range(20)})
    assert found == [f"p-{n:02}" for n in range(4)]
