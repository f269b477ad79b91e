"""What is told about a fabric whose leaves the scheduler does not know."""

from __future__ import annotations

from fourleaf.k8s_bridge.reporting.events.fabric_doubts import fabric_doubts, what_is_doubtful
from fourleaf.k8s_bridge.reporting.events.invalid_objects import config_map
from fourleaf.model.problems import Problem, Severity
from fourleaf.model.readers.config import in_force
from fourleaf.model.readers.nodes.fabric import read_fabric
from fourleaf.model.readers.nodes.nodes import NodeRead, read_node
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report
from tests.model.readers.made import node
from tests.model.readers.topology.made import status, topology
from tests.small import config

MAP = config_map("kube-system", "topology-scheduler-config")


def problems(nameless: int, labelled: int = 0, **topology: str) -> tuple[Problem, ...]:
    """What reading so many nodes under the config in force finds."""
    report, settings = Report(), config(topology=topology)
    names = [(f"u{i}", None) for i in range(nameless)] + [(f"n{i}", "a") for i in range(labelled)]
    found: list[NodeRead] = []
    for name, leaf in names:
        manifest = Manifest(report, "cluster", "", "Node", "", name, node(name, leaf))
        found.append(read_node(manifest, settings.spec))
    read_fabric(report, found, in_force(settings))
    return report.problems


def test_a_flat_fabric_is_told_once_on_the_config() -> None:
    """With the command that would mend it; a node more is no news, and labels end the doubt."""
    flat = fabric_doubts(problems(3))
    (event,) = what_is_doubtful({}, flat, MAP)
    assert (event.reason, event.warning, event.regarding) == ("TopologyIncomplete", True, MAP)
    assert event.note.startswith(
        "spec.topology: finds no leaf: no GPU node has a known label, so all 3 stand in one leaf. "
        "Run `fourleaf topology apply SOURCE`"
    )
    assert what_is_doubtful(flat, fabric_doubts(problems(4)), MAP) == []
    assert fabric_doubts(problems(0, labelled=3)) == {}


def test_nodes_that_stand_apart_are_named() -> None:
    """Three of five by name, and the label that they lack."""
    (event,) = what_is_doubtful({}, fabric_doubts(problems(5, labelled=2)), MAP)
    assert "no leaf of u0, u1, u2 and 2 more, without the label topology.scheduler/leaf" in (
        event.note
    )


def test_nodes_that_take_no_pods_by_the_config_are_told() -> None:
    """With `refuse` an unlabelled cluster places nothing, which must not be silent."""
    (event,) = what_is_doubtful({}, fabric_doubts(problems(2, unlabelled="refuse")), MAP)
    assert event.reason == "TopologyIncomplete"
    assert "refuses all 2 GPU nodes" in event.note
    assert "isolate" in event.note


def test_labels_that_switches_contradict_are_told() -> None:
    """Two nodes with labels of two leaves see one switch: an event on the config, beside others."""
    report, settings = Report(), config()
    found = []
    for name, leaf in (("n1", "a"), ("n2", "b")):
        manifest = Manifest(report, "cluster", "", "Node", "", name, node(name, leaf))
        seen = Manifest(report, "", "", "", "", name, status(name, topology("leaf-9")))
        found.append(read_node(manifest, settings.spec, seen))
    read_fabric(report, found, in_force(settings))
    told = what_is_doubtful({}, fabric_doubts(report.problems), MAP)
    (event,) = [one for one in told if one.topic == "spec.topology[SwitchInTwoLeaves]"]
    assert (event.reason, event.regarding) == ("TopologyIncomplete", MAP)
    assert "leaf-9 (a and b). Correct the labels" in event.note


def test_what_is_wrong_with_other_objects_is_no_doubt_about_the_fabric() -> None:
    """A pod's problem has another source."""
    pod = Problem(Severity.ERROR, "cluster", "Pod ml/p", "spec.priority", "3", "is odd", "Mend it.")
    assert fabric_doubts([pod]) == {}
