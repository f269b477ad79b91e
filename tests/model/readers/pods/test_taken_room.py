"""Room that is taken though no running pod's spec says so: nominations, resizes, volumes of one."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.node import Taint
from fourleaf.model.node_constraint import Toleration
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import only
from tests.model.readers.made import Body, node, owner, pod, reading


def used(*bodies: Body) -> tuple[int, int | None]:
    """GPUs and CPU that are taken on the node n1."""
    taken = reading(node(), *bodies).snapshot.used.get("n1")
    return (0, 0) if taken is None else (taken.gpus, taken.cpu)


@pytest.mark.parametrize(
    ("fields", "gpus"),
    [
        ({"schedulerName": "default-scheduler"}, 4),
        ({}, 0),
        ({"schedulerName": "default-scheduler", "nodeName": "n2"}, 0),
    ],
)
def test_room_that_another_scheduler_has_made(fields: Body, gpus: int) -> None:
    """A pod of the default scheduler is nominated for n1: its 4 GPUs are taken there.

    One of ours is not, nor one that stands elsewhere by now.
    """
    body = pod("p", 4, **fields) | {"status": {"nominatedNodeName": "n1"}}
    assert used(body, node("n2"))[0] == gpus


def test_what_is_nominated_is_not_ours_to_evict() -> None:
    """It counts as a pod of another scheduler."""
    body = pod("p", 4, schedulerName="default-scheduler")
    body |= {"status": {"nominatedNodeName": "n1"}}
    (there,) = reading(node(), body).snapshot.running
    assert (there.node, there.ours, there.gang) == ("n1", False, None)


def resized(
    asked: str, held: Any, reason: str = "Deferred", kind: str = "PodResizePending"
) -> Body:
    """Make a pod on n1 that asks for `asked` CPU while its container holds something else."""
    container = {"name": "main", "resources": {"requests": {"cpu": asked}}}
    body = pod("p", containers=[container], nodeName="n1", phase="Running")
    status = {"name": "main", "resources": {"requests": {"cpu": held}}, "allocatedResources": None}
    body["status"] |= {
        "conditions": [{"type": kind, "status": "True", "reason": reason}],
        "containerStatuses": [status],
    }
    return body


@pytest.mark.parametrize(
    ("body", "cpu"),
    [
        (resized("1", "4"), 4000),
        (resized("4", "1"), 4000),
        (resized("4", "1", "Infeasible"), 1000),
        (resized("1", "4", "", "PodResizeInProgress"), 4000),
        (resized("1", "4", "", "Ready"), 4000),
        (resized("1", "x"), 1000),
        (resized("1", None), 1000),
    ],
)
def test_a_resize_that_is_not_made_yet(body: Body, cpu: int) -> None:
    """What is asked for or held counts, whichever is more; a resize that can never be does not."""
    assert used(body)[1] == cpu


def test_a_resize_that_can_never_be_of_a_container_that_waits() -> None:
    """Its status says nothing of what is in force: the 4 CPU count that the spec asks for."""
    body = resized("4", "1", "Infeasible")
    waits = {"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}
    body["status"]["containerStatuses"] = [waits]
    assert used(body)[1] == 4000


@pytest.mark.parametrize(
    ("asked", "held", "reason", "cpu"),
    [
        ("1", "4", "", 4000),
        ("4", "1", "Deferred", 4000),
        ("4", "1", "Infeasible", 1000),
        ("1", None, "", 1000),
    ],
)
def test_a_resize_of_a_pod_as_a_whole(asked: str, held: str | None, reason: str, cpu: int) -> None:
    """What the pod asks for, has allocated or holds counts, whichever is most, as of containers."""
    container = {"name": "main", "resources": {"requests": {"cpu": "100m"}}}
    body = pod("p", containers=[container], nodeName="n1", phase="Running")
    body["spec"]["resources"] = {"requests": {"cpu": asked}}
    body["status"]["conditions"] = [{"type": "PodResizePending", "reason": reason}]
    if held is not None:
        body["status"] |= {
            "resources": {"requests": {"cpu": held}},
            "allocatedResources": {"cpu": held},
        }
    assert used(body)[1] == cpu


@pytest.mark.parametrize("where", ["spec", "status"])
def test_a_container_whose_name_is_no_text(where: str) -> None:
    """A file may say anything there: what the spec asks for counts, and nothing breaks."""
    body = resized("1", "4")
    named = body["spec"]["containers"] if where == "spec" else body["status"]["containerStatuses"]
    named[0]["name"] = {"a": 1}
    assert used(body)[1] == 1000


@pytest.mark.parametrize("key", ["containers", "initContainers"])
@pytest.mark.parametrize("told", ["allocated", "in force"])
def test_a_resize_down_counts_once_it_is_made(key: str, told: str) -> None:
    """The spec says 1 CPU, no condition says anything: 4 CPU count until the status follows.

    Either what the kubelet has allocated is still more, or what is in force; in a container or in a
    sidecar, which counts like one.
    """
    body = pod("p", None, nodeName="n1", phase="Running")
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    body["spec"][key] = [container | ({"restartPolicy": "Always"} if key[0] == "i" else {})]

    def held(allocated: str, in_force: str) -> int | None:
        status = {"allocatedResources": {"cpu": allocated}, "resources": {"requests": {}}}
        status["resources"]["requests"]["cpu"] = in_force
        statuses = "containerStatuses" if key == "containers" else "initContainerStatuses"
        body["status"][statuses] = [{"name": "c", **status}]
        return used(body)[1]

    assert held("4", "1") == 4000 if told == "allocated" else held("1", "4") == 4000
    assert held("1", "1") == 1000


def claim(name: str = "c", mode: str = "ReadWriteOncePod") -> Body:
    """Make a bound PersistentVolumeClaim."""
    body = owner("PersistentVolumeClaim", "v1", name, volumeName="pv", accessModes=[mode])
    return body | {"status": {"phase": "Bound"}}


def using(name: str, *claims: str, **fields: Any) -> Body:
    """Make a pod that uses claims."""
    volumes = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": one}}
        for i, one in enumerate(claims)
    ]
    return pod(name, volumes=volumes, **fields)


def test_a_volume_for_one_pod_that_is_in_use() -> None:
    """The pod waits for the one that runs, by name; with another access mode it does not."""
    there = using("r", "c", nodeName="n1", phase="Running")
    gang = only(node(), claim(), there, using("p", "c"))
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.GATED
    assert "is in use by ml/r" in gang.hold.detail
    assert only(node(), claim(mode="ReadWriteMany"), there, using("p", "c")).hold is None


def test_of_two_pods_the_first_has_the_volume_for_one() -> None:
    """The older of two waiting pods goes ahead; each on its own would start."""
    found = reading(node(), claim(), using("p-0", "c"), using("p-1", "c"))
    first, second = found.snapshot.gangs
    assert first.hold is None
    assert second.hold is not None
    assert "goes to gang ml/p-0 first" in second.hold.detail


def test_members_of_one_gang_that_share_a_volume_for_one() -> None:
    """They can never start together, and both names are told."""
    notes = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    gang = only(node(), claim(), *(using(name, "c", annotations=notes) for name in "pq"))
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED


@pytest.mark.parametrize(
    ("operator", "value", "taint", "tolerated"),
    [
        ("Gt", "900", "950", True),
        ("Gt", "950", "950", False),
        ("Lt", "950", "900", True),
        ("Lt", "900", "950", False),
        ("Lt", "900", "many", False),
        ("Gt", "", "5", False),
        ("Gt", "5", "1_0", False),
        ("Gt", "5", "007", False),
        ("Gt", "5", "+7", False),
        ("Gt", "5", " 7", False),
        ("Gt", "5", "9" * 20, False),
        ("Gt", "-5", "-4", True),
        ("Lt", "1", "0", True),
    ],
)
def test_taints_that_are_compared(operator: str, value: str, taint: str, tolerated: bool) -> None:
    """A toleration by Gt holds where the taint's value is greater than its own, Lt where less."""
    it = Toleration("sla", operator, value, "NoSchedule")
    assert it.tolerates(Taint("sla", taint, "NoSchedule")) is tolerated
    one = {"key": "sla", "operator": operator, "value": value, "effect": "NoSchedule"}
    assert only(pod(tolerations=[one])).roles[0].constraint.tolerations == (it,)


def test_a_pod_that_waits_for_another_takes_no_volume_from_it() -> None:
    """The older one uses the claim and wants app b near; the newer one, of app b, goes first."""
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "b"}}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    old = using("a-old", "c", labels={"app": "a"}, affinity={"podAffinity": required})
    new = using("b-new", "c", labels={"app": "b"})
    first, second = reading(node(), claim(), old, new).snapshot.gangs
    assert first.hold is not None
    assert first.hold.kind is ReasonKind.GATED
    assert second.hold is None
