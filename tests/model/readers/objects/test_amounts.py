"""What pods ask for and nodes offer, counted as Kubernetes counts."""

from __future__ import annotations

from typing import Any

from fourleaf.model.node_constraint import Operator
from fourleaf.model.resources import Resources
from tests.model.readers.made import Body, config, node, pod, reading

GIB = 2**30


def asks(limits: Body | None = None, requests: Body | None = None, **more: Any) -> Body:
    """Make a container."""
    return {"resources": {"limits": limits or {}, "requests": requests or {}}} | more


def request(**spec: Any) -> Resources:
    """The request of the one waiting pod with this spec."""
    (gang,) = reading(pod(**spec)).snapshot.gangs
    return gang.roles[0].request


def test_containers_add_up() -> None:
    """Requests count where they are stated, limits where they are not."""
    containers = [
        asks({"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": 2}, {"cpu": "500m"}),
        asks({"nvidia.com/gpu": 1, "rdma/hca": 1, "ephemeral-storage": "1Gi"}),
        {},
    ]
    assert request(containers=containers) == Resources(
        3, 500, 8 * GIB, 1, (("ephemeral-storage", GIB), ("rdma/hca", 1))
    )


def test_init_containers_and_sidecars() -> None:
    """The largest moment counts: sidecar 1 + init 6 = 7 CPUs beats containers 4 + sidecar 1."""
    init = [
        asks({"cpu": "1"}, restartPolicy="Always"),
        asks({"cpu": "6"}),
        asks({"cpu": "2"}),
    ]
    assert request(containers=[asks({"cpu": "4"})], initContainers=init).cpu == 7000


def test_sidecars_beside_containers() -> None:
    """With a small init container the steady state counts: 4 + 1 = 5 CPUs."""
    init = [asks({"cpu": "1"}, restartPolicy="Always"), asks({"cpu": "3"})]
    assert request(containers=[asks({"cpu": "4"})], initContainers=init).cpu == 5000


def test_a_later_sidecar_does_not_burden_an_earlier_init_container() -> None:
    """Init 6 runs before the sidecar starts: the peak is 6 CPUs, not 7."""
    init = [asks({"cpu": "6"}), asks({"cpu": "1"}, restartPolicy="Always")]
    assert request(containers=[asks({"cpu": "4"})], initContainers=init).cpu == 6000


def test_pod_level_amounts_and_overhead() -> None:
    """Pod-level CPU stands in place of the sum; overhead comes on top."""
    spec = {
        "containers": [asks({"cpu": "2", "memory": "1Gi"})],
        "resources": {"requests": {"cpu": "8"}},
        "overhead": {"cpu": "250m", "memory": "1Gi"},
    }
    assert request(**spec) == Resources(0, 8250, 2 * GIB)


def test_host_ports_are_extras() -> None:
    """A host port is an extra resource; with hostNetwork every container port is one."""
    ports = [{"containerPort": 1, "hostPort": 4000}, {"containerPort": 2, "protocol": "UDP"}]
    containers = [{"ports": ports}]
    assert request(containers=containers).extra == (("hostport/TCP/4000", 1),)
    assert request(containers=containers, hostNetwork=True).extra == (
        ("hostport/TCP/4000", 1),
        ("hostport/UDP/2", 1),
    )


def test_the_port_of_an_init_container_is_free_again() -> None:
    """It is over before the others start; that of a sidecar stays taken."""
    init = {"name": "i", "ports": [{"containerPort": 1, "hostPort": 4000}]}
    assert request(initContainers=[init]).extra == ()
    sidecar = init | {"restartPolicy": "Always"}
    assert request(initContainers=[sidecar]).extra == (("hostport/TCP/4000", 1),)


def test_equal_containers_differ_by_port() -> None:
    """Requests that are read once for many pods keep each pod's own ports."""
    bodies = [pod(f"p-{i}", containers=[{"ports": [{"hostPort": 80 + i}]}]) for i in (0, 1)]
    extras = [gang.roles[0].request.extra for gang in reading(*bodies).snapshot.gangs]
    assert extras == [(("hostport/TCP/80", 1),), (("hostport/TCP/81", 1),)]


def test_amd_gpus_and_configured_names() -> None:
    """GPUs are what the config calls so; another device is an extra resource."""
    amd = [asks({"amd.com/gpu": 4})]
    assert request(containers=amd).gpus == 4
    (gang,) = reading(pod(containers=amd), config(gpuResources=["x.com/gpu"])).snapshot.gangs
    assert gang.roles[0].request == Resources(0, 0, 0, 1, (("amd.com/gpu", 4),))


def test_mixed_fabrics_keep_gpus_apart() -> None:
    """Where nodes offer NVIDIA and AMD GPUs, a pod that asks for one cannot use the other."""
    amd = node("n2", status={"allocatable": {"amd.com/gpu": 8}})
    found = reading(node("n1"), amd, pod("a"), pod("b", gpus=None)).snapshot
    asking, plain = found.gangs
    nodes = found.fabric.nodes
    constraint = asking.roles[0].constraint
    assert constraint.selects(nodes["n1"])
    assert not constraint.selects(nodes["n2"])
    assert plain.roles[0].constraint.selects(nodes["n2"])


def test_node_as_it_is_offered() -> None:
    """Everything the scheduler looks at is read from the node."""
    body = node(
        metadata={
            "name": "n1",
            "labels": {
                "topology.scheduler/leaf": "l",
                "topology.scheduler/spine": "s",
                "nvidia.com/gpu.product": "H100",
                "topology.scheduler/network-bandwidth": "400Gb",
            },
            "annotations": {"topology.scheduler/failure-rate": "0.125"},
        },
        spec={"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
        status={
            "allocatable": {"nvidia.com/gpu": "8", "cpu": "96", "rdma/hca": "4"},
            "conditions": [{"type": "Ready", "status": "Unknown"}],
        },
    )
    found = reading(body).snapshot.fabric.nodes["n1"]
    assert found.allocatable == Resources(8, 96_000, None, 110, (("rdma/hca", 4),))
    assert (found.product, found.bandwidth, found.failure_permille) == ("H100", 400_000, 125)
    assert (found.ready, found.cordoned, found.taints[0].key) == (False, True, "k")


def test_nodes_without_gpus_or_leaf_are_left_out() -> None:
    """A CPU node outside of the fabric is no concern of a plan; one under a leaf is."""
    plain = {"allocatable": {"cpu": "8"}}
    found = reading(node(), node("c1", None, status=plain), node("c2", status=plain))
    assert list(found.snapshot.fabric.nodes) == ["c2", "n1"]


def test_uplinks_and_edges_of_the_config() -> None:
    """A leaf has its own uplink, else the common one; edges name leaves."""
    found = reading(
        node("n1", "a"),
        node("n2", "b"),
        config(
            network={"uplinkBandwidth": "400Gb", "uplinks": {"b": "1.6Tb"}},
            topology={"adjacency": {"kind": "explicit", "edges": [["b", "a"]]}},
        ),
    ).snapshot.fabric
    assert [leaf.uplink for leaf in found.leaves] == [400_000, 1_600_000]
    assert found.edges == {("a", "b")}


def test_selector_affinity_and_tolerations() -> None:
    """All three are read as Kubernetes means them."""
    requirement = {"key": "zone", "operator": "In", "values": ["a"]}
    field = {"key": "metadata.name", "operator": "NotIn", "values": ["n9"]}
    term = {"matchExpressions": [requirement], "matchFields": [field]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}
        }
    }
    (gang,) = reading(
        pod(nodeSelector={"b": "2", "a": "1"}, affinity=affinity, tolerations=[{"key": "k"}])
    ).snapshot.gangs
    constraint = gang.roles[0].constraint
    assert constraint.selector == (("a", "1"), ("b", "2"))
    ((label, name),) = constraint.affinity
    assert (label.operator, label.values, label.is_field) == (Operator.IN, ("a",), False)
    assert (name.operator, name.values, name.is_field) == (Operator.NOT_IN, ("n9",), True)
    assert constraint.tolerations[0].operator == "Equal"
