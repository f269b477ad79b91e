"""Nodes that a pod prefers for the pods that run: near some, apart from others, spread."""

from __future__ import annotations

from typing import Any

from fourleaf.model.node_constraint import Operator, Preference, Requirement
from tests.model.readers.gangs.made import only
from tests.model.readers.gangs.test_near_others import ZONES, runs
from tests.model.readers.made import Body, pod

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
