"""What is wrong with a map in use."""

from __future__ import annotations

from fourleaf.model.device_maps.check import MOST_FAULTS, check_map
from tests.model.device_maps.made import (
    AKS,
    Body,
    agent,
    ground,
    holder,
    inventory,
    node,
    silent,
    stated,
    stateful_set,
)
from tests.model.readers.made import config

DOCUMENTED = f"""\
0={AKS}0:0,1
1={AKS}1:2
2={AKS}3:0,1,2
3={AKS}4:3
4={AKS}4:3
"""
ALL = tuple(node(f"{AKS}{number}") for number in (0, 1, 3, 4))


def told(text: str, *bodies: Body, replicas: int = 1) -> list[tuple[str, str]]:
    """Line and message of every problem of the map `text` on the nodes of `bodies`."""
    found = check_map(stated(stateful_set(text, replicas)), ground(*bodies))
    return [(one.value.strip('"'), one.message) for one in found]


def test_a_map_that_can_be_used() -> None:
    """The first four lines of the documented example, on its nodes."""
    lines = "".join(DOCUMENTED.splitlines(keepends=True)[:4])
    assert told(lines, *ALL, replicas=4) == []


def test_after_very_many_faults_no_other_line_is_looked_at() -> None:
    """Where the rest begins is said; a map of 2 MB has half a million faults."""
    lines = "".join(f"{number}=gone:{number % 8}\n" for number in range(9, MOST_FAULTS))
    found = told(lines, *ALL)
    assert found[-2:] == [
        ("512=gone:0", "names gone, which is no node of the cluster"),
        ("513=gone:1", "is not looked at, nor what follows: 1000 faults come before it"),
    ]


def test_no_two_lines_name_one_device() -> None:
    """Line 4 of the documented example names what line 3 names."""
    assert told(DOCUMENTED, *ALL, replicas=5) == [
        (f"4={AKS}4:3", f"names device 3 of {AKS}4, which line 3 names too")
    ]


def test_every_node_is_there_and_ready_and_has_the_devices() -> None:
    """One line for each thing that can be wrong with a node."""
    nodes = (
        node("down", ready=False),
        node("cordoned", cordoned=True),
        node("cpu", gpus=0),
        node("small", gpus=1),
    )
    text = "0=gone:0\n1=down:0\n2=cordoned:0\n3=cpu:0\n4=small:0,1\n"
    assert told(text, *nodes) == [
        ("0=gone:0", "names gone, which is no node of the cluster"),
        ("1=down:0", "names down, which is not ready"),
        ("2=cordoned:0", "names cordoned, which is cordoned"),
        ("3=cpu:0", "names cpu, which has no GPU"),
        ("4=small:0,1", "names device 1 of small, which has no such device"),
    ]


def test_devices_are_what_the_inventory_says() -> None:
    """Device 2 is unhealthy; the other node's inventory says that it has too many."""
    gpus = [{"index": i, "uuid": f"GPU-{i}", "healthy": i != 2} for i in range(4)]
    more = [{"index": i, "uuid": f"GPU-m{i}"} for i in range(5)]
    bodies = (node("n1"), node("n2"), agent("n1", gpus), agent("n2", more))
    assert told("0=n1:1,2\n1=n2:0\n", *bodies) == [
        ("0=n1:1,2", "names device 2 of n1, which is unhealthy"),
        (
            "1=n2:0",
            "names n2, which is held back: its inventory has 5 healthy devices where the node "
            "offers 4",
        ),
    ]


def test_a_map_is_taken_at_its_word_where_nothing_else_says_what_there_is() -> None:
    """A warning for each line, and still what other pods hold; an inventory is believed alone."""
    gpus = [{"index": i, "uuid": f"GPU-{i}"} for i in range(2)]
    nodes = (silent("n1"), silent("n2"), agent("n2", gpus), holder("other", "n1", "1"))
    found = check_map(stated(stateful_set("0=n1:0,1\n1=n2:1,2\n", 2)), ground(*nodes))
    assert [(one.is_error, one.message) for one in found] == [
        (True, "names device 2 of n2, which has no such device"),
        (False, "names 0, 1 of n1, of whose devices nothing is known"),
        (False, "names device 1 of n1, which ml/other holds now"),
    ]


def test_an_inventory_without_devices_is_believed() -> None:
    """The agent is there and finds none: no map is taken at its word against that."""
    assert told("0=n1:0\n", silent("n1"), agent("n1", [])) == [
        ("0=n1:0", "names n1, which has no GPU")
    ]


def test_nodes_that_the_config_refuses_cannot_be_used() -> None:
    """Where the config refuses nodes that name no leaf, with and without a device plugin."""
    leaf = node("n3")
    leaf["metadata"]["labels"] = {"topology.scheduler/leaf": "a"}
    bodies = (node("n1"), silent("n2"), leaf)
    text = "0=n1:0\n1=n2:0\n2=n3:0\n"
    refuse = config(topology={"unlabelled": "refuse"})
    assert told(text, *bodies, refuse, replicas=3) == [
        ("0=n1:0", "names n1, which the config refuses for want of a leaf"),
        ("1=n2:0", "names n2, which the config refuses for want of a leaf"),
    ]
    assert [line for line, _ in told(text, *bodies, replicas=3)] == ["1=n2:0"]


def test_pods_that_ask_for_what_no_device_plugin_announces_are_refused() -> None:
    """The kubelet there would refuse them, whatever the map says."""
    carrier = stateful_set("0=n1:0\n1=n2:0\n", 2)
    limits = {"nvidia.com/gpu": "1"}
    carrier["spec"]["template"]["spec"] = {"containers": [{"resources": {"limits": limits}}]}
    found = check_map(stated(carrier), ground(silent("n1"), node("n2")))
    assert [one.message for one in found if one.is_error] == [
        "names n1, where no device plugin announces the nvidia.com/gpu of its pods"
    ]


def test_there_is_a_line_for_each_pod() -> None:
    """Two lines do not do for three replicas."""
    assert told(f"0={AKS}0:0\n1={AKS}0:1\n", *ALL, replicas=3) == [("", "has 2 lines for 3 pods")]


def test_a_device_that_others_hold_is_told_as_a_warning() -> None:
    """Pods of the map itself hold their own."""
    text = f"0={AKS}0:0\n1={AKS}0:1\n"
    others = (holder("x", f"{AKS}0", "1"), holder("mine", f"{AKS}0", "0", lines=text))
    (found,) = check_map(stated(stateful_set(text, 2)), ground(*ALL, *others))
    assert found.message == f"names device 1 of {AKS}0, which ml/x holds now"
    assert not found.is_error


def test_lines_that_cannot_be_read_are_named() -> None:
    """By object, field and line."""
    (found,) = check_map(stated(stateful_set(f"0={AKS}0:0\noops", 1)), ground(*ALL))
    assert found.object == "StatefulSet ml/web"
    assert found.field == "spec.template.metadata.annotations[gpu-scheduling-map]"
    assert (found.value, found.message) == ('"oops"', "is no line of a device map")


def test_pods_with_the_map_of_their_owner_do_not_count_again() -> None:
    """One StatefulSet with a pod is one map."""
    from fourleaf.model.device_maps.map_annotations import annotated_maps

    owner = stateful_set(DOCUMENTED, 1)
    pod = holder("web-0", f"{AKS}0", "0,1", lines=DOCUMENTED)
    reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}
    pod["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    assert [one.manifest.kind for one in annotated_maps(inventory(owner, pod))] == ["StatefulSet"]
