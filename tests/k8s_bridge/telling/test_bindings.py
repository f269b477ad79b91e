"""What is told about gangs that were bound."""

from __future__ import annotations

from k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS
from k8s_bridge.cluster.protocol import Target
from k8s_bridge.telling.bindings import what_was_bound
from k8s_bridge.telling.tells import Regarding
from tests.k8s_bridge.telling.made import key

MEMBERS = [(Target("ml", f"g-{i}", f"u{i}"), f"n{i // 2}") for i in range(20)]


def test_each_pod_and_the_gang_get_an_event() -> None:
    """20 pods on 10 nodes: 20 events with their node, one for the gang."""
    group = Regarding(COSCHEDULING_POD_GROUPS, "ml", "g", "ug")
    tells = what_was_bound(key("g"), MEMBERS, group)
    assert [tell.reason for tell in tells] == ["Scheduled"] * 20 + ["GangBound"]
    assert tells[3].note == "Assigned ml/g-3 to n1"
    assert tells[-1].regarding == group
    assert tells[-1].note == (
        "Gang ml/g: 20 pods bound to n0, n1, n2, n3, n4, n5, n6, n7 and 2 more"
    )
    assert not any(tell.warning for tell in tells)


def test_without_a_group_the_first_pod_stands_for_the_gang() -> None:
    """A gang by annotation has no object of its own."""
    assert what_was_bound(key("g"), MEMBERS[:1])[-1].regarding.name == "g-0"
    assert what_was_bound(key("g"), []) == []
