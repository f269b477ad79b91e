"""What is told about objects that are wrong, the config included."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.cache.config_watcher import START, ConfigState, folded
from fourleaf.k8s_bridge.cluster.kinds import GPU_NODE_STATUSES
from fourleaf.k8s_bridge.reporting.after_cycle import after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import Reported
from fourleaf.k8s_bridge.reporting.events.invalid_objects import config_map, what_of_config
from fourleaf.model.problems import Problem, Severity
from tests import small
from tests.k8s_bridge.reporting.made import events, facts, pod

WRONG = Problem(
    Severity.ERROR, "", "Pod ml/p", "spec.priority", "3", "differs from 4", "Make them equal."
)
MAP = config_map("kube-system", "topology-scheduler-config")


def test_an_error_is_told_once_on_its_object() -> None:
    """Field, value, message and advice stand in the note; the next cycle says nothing."""
    now = facts(bodies=[pod("p")], problems=(WRONG,))
    news = after_cycle(Reported(), now)
    (event,) = events(news.outgoing)
    assert (event.regarding.kind.name, event.regarding.uid) == ("Pod", "uid-p")
    assert (event.reason, event.warning) == ("Invalid", True)
    assert event.note == "spec.priority = 3: differs from 4. Make them equal."
    assert after_cycle(news.reported, now).outgoing == ()


def test_an_error_that_comes_back_is_told_again() -> None:
    """Between the two it was corrected, so it is news."""
    bad, good = facts(bodies=[pod("p")], problems=(WRONG,)), facts(bodies=[pod("p")])
    told = after_cycle(Reported(), bad).reported
    told = after_cycle(told, good).reported
    assert len(after_cycle(told, bad).outgoing) == 1


def test_a_doubted_inventory_is_told_on_its_object() -> None:
    """It is a warning, for its node is held back and all others go on; the event names both."""
    doubt = replace(
        WRONG,
        severity=Severity.WARNING,
        object="GpuNodeStatus n2",
        field="status.gpus",
        message="names device U of n1",
    )
    body = {"metadata": {"namespace": "", "name": "n2", "uid": "uid-n2", "resourceVersion": "7"}}
    now = facts(groups=[(GPU_NODE_STATUSES, body)], problems=(doubt,))
    (event,) = events(after_cycle(Reported(), now).outgoing)
    assert (event.reason, event.regarding.name) == ("InventoryDoubted", "n2")
    assert "names device U of n1" in event.note


def test_warnings_and_objects_that_nobody_watches_are_left_to_the_log() -> None:
    """A warning, and an error about a pod that does not exist, make no event."""
    problems = (replace(WRONG, severity=Severity.WARNING), replace(WRONG, object="Pod ml/gone"))
    assert after_cycle(Reported(), facts(bodies=[pod("p")], problems=problems)).outgoing == ()


def test_a_bad_edit_of_the_config_is_told_once() -> None:
    """The event says what is in force, what is wrong and what to do."""
    edited = {"metadata": {"uid": "u", "resourceVersion": "5"}, "data": {}}
    assert folded(START, edited).uid == "u", "kubectl describe finds events by it"
    bad = replace(START, version="5", problems=(WRONG,))
    (event,) = what_of_config(START, bad, MAP)
    assert (event.reason, event.warning) == ("ConfigInvalid", True)
    assert event.note == (
        "In force: built-in defaults. The newest edit is not: "
        "spec.priority = 3: differs from 4. Make them equal."
    )
    assert what_of_config(bad, replace(bad, version="6"), MAP) == []


def test_a_good_edit_of_the_config_is_told() -> None:
    """A change is told, and so is the end of a problem; an edit that changes nothing is not."""
    other = ConfigState(small.config(), "ConfigMap kube-system/c", "9")
    assert [e.reason for e in what_of_config(START, other, MAP)] == ["ConfigReloaded"]
    bad = replace(other, problems=(WRONG,))
    assert [e.reason for e in what_of_config(bad, other, MAP)] == ["ConfigReloaded"]
    assert what_of_config(other, replace(other, version="10"), MAP) == []
