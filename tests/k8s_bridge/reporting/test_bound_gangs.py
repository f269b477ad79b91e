"""What is told about gangs that were bound."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.reporting.events.bound_gangs import what_was_bound
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Regarding
from tests.k8s_bridge.reporting.made import key

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
    last = what_was_bound(key("g"), MEMBERS[:2])[-1]
    assert (last.reason, last.regarding.name) == ("GangBound", "g-0")
    assert what_was_bound(key("g"), []) == []


def test_nothing_is_said_twice_of_a_single_pod() -> None:
    """A pod that is its own gang gets one event; with a group, the group hears of it too."""
    group = Regarding(COSCHEDULING_POD_GROUPS, "ml", "g", "ug")
    alone = what_was_bound(key("g"), MEMBERS[:1])
    assert [(tell.reason, tell.note) for tell in alone] == [("Scheduled", "Assigned ml/g-0 to n0")]
    grouped = what_was_bound(key("g"), MEMBERS[:1], group)
    assert [tell.reason for tell in grouped] == ["Scheduled", "GangBound"]
