"""However much one pod says, a replica keeps little of it, counts what it holds, and tells."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest

from fourleaf.k8s_bridge.cluster import pod_limit
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.slim import object_of
from fourleaf.model.devices.held_devices import DEVICES
from fourleaf.model.readers import InputReading, Source, read
from fourleaf.model.readers.pods.kept_parts import CUT
from fourleaf.model.reasons.kinds import ReasonKind
from tests.k8s_bridge.cluster.test_slim import entries
from tests.model.readers import made

Body = dict[str, Any]

MOST_KEPT = 15_000
"""Entries of the largest pod, of 1.4 MB: some 0.4 MB of memory."""


def slim(body: Body) -> Body:
    """Take a pod as a list of the API server has it."""
    return object_of(PODS, orjson.dumps(body))


def reading_of(*pods: Body) -> InputReading:
    """Read slim pods beside a node."""
    items = [made.node("n1"), *({"apiVersion": "v1", "kind": "Pod", **one} for one in pods)]
    return read([Source("in.json", orjson.dumps(items))], strict=False)


def amounts(number: int) -> Body:
    """Make amounts of resources that no node has, whose names come before all others."""
    return {f"a.x/{i}": "1" for i in range(number)}


def containers(number: int, **fields: Any) -> list[Body]:
    """Make containers that are alike but for their names."""
    return [{"name": f"c{i}", **fields} for i in range(number)]


PORTS = [{"containerPort": i + 1, "hostPort": i + 1} for i in range(30_000)]
MUCH: dict[str, Body] = {
    "spec.containers": {"containers": containers(25_000, resources={"requests": {"cpu": "1m"}})},
    "spec.containers of ports": {"containers": containers(1, ports=PORTS)},
    "spec.containers of amounts": {
        "containers": containers(1, resources={"requests": amounts(60_000)})
    },
    "spec.initContainers": {"initContainers": containers(25_000)},
    "spec.overhead": {"overhead": amounts(60_000)},
    "spec.resources": {"resources": {"limits": amounts(60_000)}},
    "spec.resourceClaims": {"resourceClaims": containers(22_000)},
    "spec.volumes": {
        "volumes": [
            {"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"c{i}"}}
            for i in range(18_000)
        ]
    },
    "spec.nodeSelector": {"nodeSelector": {f"k{i}": "" for i in range(6_000)}},
    "spec.tolerations": {"tolerations": [{"operator": "Exists"} for _ in range(2_500)]},
}


@pytest.mark.parametrize("standing", [False, True], ids=["waits", "stands"])
@pytest.mark.parametrize("field", MUCH)
def test_of_very_many_entries_few_are_kept_and_the_pod_is_held(field: str, standing: bool) -> None:
    """Tens of thousands of entries; a pod that stands is not held, but is among the problems."""
    where = {"nodeName": "n1"} if standing else {}
    kept = slim(made.pod("p", **MUCH[field] | where))
    assert entries(kept) <= MOST_KEPT
    found = reading_of(kept)
    told = [one for one in found.problems if "more entries than are read" in one.message]
    assert {(one.object, one.field) for one in told} == {("Pod ml/p", field.split(maxsplit=1)[0])}
    if not standing:
        (gang,) = found.snapshot.gangs
        assert gang.hold is not None
        assert gang.hold.kind is ReasonKind.INVALID


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_a_pod_of_very_many_labels_is_held(field: str) -> None:
    """Its gang may be named by what is not kept."""
    body = made.pod("p", **{field: {f"k{i}": "" for i in range(20_000)}})
    kept = slim(body)
    assert len(kept["metadata"][field]) <= 500
    (gang,) = reading_of(kept).snapshot.gangs
    assert gang.hold is not None
    assert f"metadata.{field}" in gang.hold.detail


def test_what_decides_nothing_is_cut_without_a_word() -> None:
    """Of 60,000 gates one holds the pod; its controller is among the owners, wherever it stood."""
    owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u"}
    body = made.pod("p", schedulingGates=containers(60_000), schedulerName="nobody")
    body["metadata"]["ownerReferences"] = [*[owner] * 20_000, owner | {"controller": True}]
    body["metadata"]["finalizers"] = [f"example.com/{i}" for i in range(100_000)]
    kept = slim(copy.deepcopy(body))
    assert kept["spec"]["schedulingGates"] == [{"name": "c0"}]
    assert kept["metadata"]["ownerReferences"] == [owner | {"controller": True}, *[owner] * 15]
    assert kept["metadata"]["finalizers"] == body["metadata"]["finalizers"][:16]
    assert CUT not in kept["spec"]


def test_what_a_pod_holds_counts_however_much_else_it_says() -> None:
    """Its GPUs, its CPU and its devices, behind 60,000 names that come before theirs."""
    asks = {"requests": amounts(60_000) | {"cpu": "3", "nvidia.com/gpu": "4"}}
    body = made.pod("p", nodeName="n1", containers=containers(2, resources=asks, ports=PORTS))
    many = {f"a{i}": "" for i in range(20_000)}
    body["metadata"]["annotations"] = many | {DEVICES: "0,1,2,3"}
    kept = slim(body)
    assert entries(kept) <= MOST_KEPT
    (pod,) = reading_of(kept).snapshot.running
    assert (pod.request.gpus, pod.request.cpu, pod.devices) == (8, 6_000, (0, 1, 2, 3))


def test_the_gpus_of_the_last_of_many_containers_count() -> None:
    """Beside 600 with another resource, which a kubelet without it ignores, and 600 with none."""
    others = containers(600, resources={"requests": {"a.x/y": "1"}})
    gpus = {"name": "last", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    body = made.pod("p", containers=[*containers(600), *others, gpus], nodeName="n1")
    reading = reading_of(slim(body))
    assert [pod.request.gpus for pod in reading.snapshot.running] == [8]


NOTHING = {"nvidia.com/gpu": "0", "a.x/b": 0, "a.x/c": "0.0Ki"}
ALL = {"nvidia.com/gpu": "8", "cpu": "60", "memory": "500Gi", "rdma/hca": "8"}


@pytest.mark.parametrize("key", ["containers", "initContainers"])
@pytest.mark.parametrize("before", [499, 500, 2_000])
def test_what_holds_nothing_leaves_what_holds_something_counted(before: int, key: str) -> None:
    """Containers that ask for no GPU by its name, and one that asks for all of a node."""
    first = containers(before, resources={"limits": NOTHING})
    last = {"name": "all", "resources": {"limits": ALL}, "restartPolicy": "Always"}
    body = made.pod("big", None, phase="Running", nodeName="n1")
    body["spec"][key] = [*first, last]
    (pod,) = reading_of(slim(body)).snapshot.running
    assert (pod.request.gpus, pod.request.cpu) == (8, 60_000)
    assert pod.request.memory == 500 * 2**30
    assert ("rdma/hca", 8) in pod.request.extra


def test_of_many_containers_all_cores_are_counted() -> None:
    """1,000 of 100m each, of which 500 are kept one by one."""
    many = containers(1_000, resources={"requests": {"cpu": "100m"}})
    body = made.pod("big", None, phase="Running", nodeName="n1", containers=many)
    (pod,) = reading_of(slim(body)).snapshot.running
    assert pod.request.cpu == 100_000


def test_amounts_of_nothing_leave_no_other_uncounted() -> None:
    """2,001 names that come before the one of which the container holds eight."""
    limits = dict.fromkeys(amounts(2_001), "0m") | {"rdma/hca": "8"}
    one = containers(1, resources={"limits": limits, "requests": limits})
    body = made.pod("big", None, phase="Running", nodeName="n1", containers=one)
    (pod,) = reading_of(slim(body)).snapshot.running
    assert ("rdma/hca", 8) in pod.request.extra


def test_ports_of_containers_that_are_left_out_are_taken() -> None:
    """One host port each, of 600 containers."""
    many = [
        {"name": f"c{i}", "ports": [{"containerPort": 1, "hostPort": i + 1}]} for i in range(600)
    ]
    body = made.pod("big", None, phase="Running", nodeName="n1", containers=many)
    (pod,) = reading_of(slim(body)).snapshot.running
    assert sum("port" in name.lower() for name, _ in pod.request.extra) == 600


def test_what_a_large_pod_says_is_kept_whole() -> None:
    """Forty containers with ten ports each, forty volumes, and a hundred labels are no excess."""
    ports = [{"containerPort": i, "protocol": "TCP"} for i in range(1, 11)]
    asks = {"requests": {"cpu": "1m", "memory": "1Mi"}}
    volume = {"persistentVolumeClaim": {"claimName": "c"}}
    spec = {
        "containers": containers(40, resources=asks, ports=ports),
        "volumes": [{"name": f"v{i}", **volume} for i in range(40)],
    }
    body = made.pod("p", labels={f"k{i}": "" for i in range(100)}, **spec)
    kept = slim(copy.deepcopy(body))
    assert {key: kept["spec"][key] for key in spec} == spec
    assert kept["metadata"]["labels"] == body["metadata"]["labels"]
    assert CUT not in kept["spec"]


def test_a_template_of_a_volume_is_not_kept() -> None:
    """The claim that is made of it says all that counts; the template may have any labels."""
    much = {"metadata": {"labels": {f"k{i}": "" for i in range(20_000)}}}
    kept = slim(made.pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": much}}]))
    assert kept["spec"]["volumes"] == [{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]


def used_by(*pods: Body) -> Any:
    """What slim pods hold of node `n1`."""
    return reading_of(*map(slim, pods)).snapshot.used["n1"]


@pytest.mark.parametrize("name", ["zz.example/gpu", "nvidia.com/mig-1g.10gb", "rdma/hca"])
def test_gpus_of_any_name_count_behind_thousands_of_others(name: str) -> None:
    """The config may call GPUs anything, and nodes may offer parts of them."""
    asks = amounts(3_000) | {name: "8"}
    some = containers(1, resources={"requests": asks, "limits": asks})
    there = dict(used_by(made.pod("p", nodeName="n1", containers=some)).extra)
    assert there[name] == 8
    assert len(there) == 3_001


@pytest.mark.parametrize(("where", "names"), [({}, 1), ({"nodeName": "n1"}, pod_limit.MOST_NAMES)])
def test_amounts_that_do_not_count_are_not_parsed(
    monkeypatch: pytest.MonkeyPatch, where: Body, names: int
) -> None:
    """Of 60,000 names those that count; of a pod that waits and is held, GPUs, cores and memory."""
    parsed = []
    how = pod_limit.in_bytes
    monkeypatch.setattr(pod_limit, "in_bytes", lambda said: parsed.append(said) or how(said))
    some = containers(1, resources={"requests": amounts(60_000) | {"nvidia.com/gpu": "8"}})
    kept = slim(made.pod("p", containers=some, **where))["spec"]["containers"][0]
    assert len(parsed) == names
    assert len(kept["resources"]["requests"]) == names
    assert kept["resources"]["requests"]["nvidia.com/gpu"] == "8"


def test_ports_of_many_containers_are_all_taken() -> None:
    """62 containers of 33 ports each take all 2,046 of them from the node, of either protocol."""
    some = [
        {
            "name": f"c{i}",
            "ports": [{"containerPort": 1, "hostPort": 100 + 33 * i + j} for j in range(33)],
        }
        for i in range(62)
    ]
    some[0]["ports"][0]["protocol"] = "UDP"
    there = dict(used_by(made.pod("p", nodeName="n1", containers=some)).extra)
    assert len(there) == 62 * 33
    assert {"hostport/UDP/100", "hostport/TCP/101"} <= there.keys()


def test_a_bound_pod_is_found_by_any_of_thousands_of_labels() -> None:
    """Who keeps away from pods of one label sees it on a pod that has 3,000 more before it."""
    labels = {f"a{i:04}": "1" for i in range(3_000)} | {"tenant": "other"}
    kept = slim(made.pod("p", nodeName="n1", labels=labels))
    assert kept["metadata"]["labels"] == labels
    assert CUT not in kept["spec"]


def test_of_many_init_containers_the_largest_counts() -> None:
    """They run one after the other, beside the sidecars that have started before them."""
    init = containers(600, resources={"requests": {"cpu": "2"}})
    init[0]["restartPolicy"] = "Always"
    init[599]["resources"] = {"requests": {"cpu": "5"}}
    assert used_by(made.pod("p", nodeName="n1", initContainers=init)).cpu == 7_000


def test_what_many_containers_hold_while_they_are_resized_counts() -> None:
    """One of 600 holds 4 cores until its kubelet has taken them back, whatever its spec says."""
    body = made.pod("p", nodeName="n1", containers=containers(600))
    held = {"name": "c599", "resources": {"requests": {"cpu": "4"}}}
    body["status"] = {"phase": "Running", "containerStatuses": [held]}
    assert used_by(body).cpu == 4_000


def test_an_overhead_of_nothing_leaves_no_other_uncounted() -> None:
    """2,000 names of nothing in the overhead of a pod go before the adapter that it holds."""
    none = {f"a.x/{i}": "0" for i in range(2_000)}
    body = made.pod("p", nodeName="n1", overhead=none | {"rdma/hca": "8"})
    assert dict(used_by(body).extra) == {"rdma/hca": 8}
