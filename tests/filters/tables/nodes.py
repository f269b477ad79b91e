"""Rows about labels, taints, amounts and ports of nodes."""

from __future__ import annotations

from typing import Any

from tests.filters.kube_filters import Body
from tests.filters.tables.table import ALL, HOST, Row, Standing, asks, on_nodes


def tainted(effect: str = "NoSchedule", value: str = "x", key: str = "k") -> Body:
    """A node with a taint."""
    return {"spec": {"taints": [{"key": key, "value": value, "effect": effect}]}}


def tolerates(**one: Any) -> Body:
    """A pod with one toleration."""
    return {"tolerations": [one]}


def port(number: int, protocol: str = "TCP", **more: str) -> Body:
    """A container that wants a port of its host, and a tenth of a core."""
    ports = [{"containerPort": number, "hostPort": number, "protocol": protocol, **more}]
    resources = {"requests": {"cpu": "100m"}}
    return {"containers": [{"name": "main", "resources": resources, "ports": ports}]}


def resized(condition: str, reason: str, asked: str, held: str) -> Standing:
    """A pod on the first node whose requests are being changed."""
    amounts = {"requests": {"cpu": held}}
    status = {
        "conditions": [{"type": condition, "status": "True", "reason": reason}],
        "containerStatuses": [
            {"name": "main", "allocatedResources": {"cpu": held}, "resources": amounts}
        ],
    }
    return Standing("n0", cpu=asked, status=status)


def resized_pod(asked: str, held: str, reason: str = "") -> Standing:
    """A pod on the first node whose requests are being changed for it as a whole."""
    pending = {"type": "PodResizePending", "status": "True", "reason": reason}
    status = {
        "conditions": [pending] if reason else [],
        "resources": {"requests": {"cpu": held}},
        "allocatedResources": {"cpu": held},
    }
    return Standing("n0", spec={"resources": {"requests": {"cpu": asked}}}, status=status)


def unresized(asked: str) -> Standing:
    """A pod on the first node whose container waits, and whose resize its node can never make."""
    condition = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    statuses = [{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}]
    return Standing(
        "n0", cpu=asked, status={"conditions": [condition], "containerStatuses": statuses}
    )


def init_port(number: int, **more: str) -> Body:
    """A container that starts before the others and wants a port of its host."""
    ports = [{"containerPort": number, "hostPort": number, "protocol": "TCP"}]
    return {"initContainers": [{"name": "init", "ports": ports, **more}]}


def restarts(action: str) -> Body:
    """A pod whose sidecar has a rule by which it starts anew, and takes others with it or not."""
    rule = {"action": action, "exitCodes": {"operator": "In", "values": [42]}}
    sidecar = {"name": "s", "restartPolicy": "Always", "restartPolicyRules": [rule]}
    return {"initContainers": [sidecar]}


_DECLARE = {
    "n1": {"features": ["GuaranteedQoSPodCPUResize", "RestartAllContainersOnContainerExits"]},
    "n2": {"features": ["UserNamespacesHostNetworkSupport"]},
}
_TWO = {"spec": {"taints": [{"key": key, "value": "x", "effect": "NoSchedule"} for key in "kl"]}}
_BIG = {"cpu": "3"}


def _asking(**requests: str) -> Body:
    """A pod with requests, which are its limits too."""
    return {
        "containers": [{"name": "main", "resources": {"requests": requests, "limits": requests}}]
    }


def _container(name: str, cpu: str, **more: str) -> Body:
    """A container that asks for cores."""
    return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}


NODES = (
    Row("restarts of all containers", "n1", restarts("RestartAllContainers"), nodes=_DECLARE),
    Row("restarts of one container", ALL, restarts("Restart"), nodes=_DECLARE),
    Row(
        "user namespaces on the network of the host",
        "n2",
        {"hostNetwork": True, "hostUsers": False},
        nodes=_DECLARE,
    ),
    Row("the network of the host alone", ALL, {"hostNetwork": True}, nodes=_DECLARE),
    Row("a cordoned node", "n1 n2 n3", nodes={"n0": {"spec": {"unschedulable": True}}}),
    Row("a selector", "n2 n3", {"nodeSelector": {"zone": "z1"}}),
    Row("a selector that no node has", "", {"nodeSelector": {"zone": "z9"}}),
    Row("In", "n0 n1", on_nodes(asks("zone", "In", "z0", "z9"))),
    Row(
        "NotIn, also where there is no label",
        "n1 n2 n3",
        on_nodes(asks("zone", "NotIn", "z0")),
        nodes={"n1": {"labels": {"zone": None}}},
    ),
    Row(
        "Exists",
        "n0 n2 n3",
        on_nodes(asks("zone", "Exists")),
        nodes={"n1": {"labels": {"zone": None}}},
    ),
    Row(
        "DoesNotExist",
        "n1",
        on_nodes(asks("zone", "DoesNotExist")),
        nodes={"n1": {"labels": {"zone": None}}},
    ),
    Row(
        "Gt",
        "n1",
        on_nodes(asks("size", "Gt", "4")),
        nodes={"n0": {"labels": {"size": "4"}}, "n1": {"labels": {"size": "5"}}},
    ),
    Row(
        "Lt, and a label that is no number",
        "n0",
        on_nodes(asks("size", "Lt", "5")),
        nodes={"n0": {"labels": {"size": "4"}}, "n1": {"labels": {"size": "big"}}},
    ),
    Row(
        "Gt, and labels that are numbers to Python alone",
        "n3",
        on_nodes(asks("size", "Gt", "4")),
        nodes={
            "n0": {"labels": {"size": "1_0"}},
            "n1": {"labels": {"size": "9" * 20}},
            "n3": {"labels": {"size": "007"}},
        },
    ),
    Row(
        "one of two terms",
        "n0 n1 n3",
        on_nodes(asks("zone", "In", "z0"), asks("kubernetes.io/hostname", "In", "n3")),
    ),
    Row("the name of a node", "n2", on_nodes(asks("metadata.name", "In", "n2", fields=True))),
    Row(
        "any name but one", "n0 n1 n3", on_nodes(asks("metadata.name", "NotIn", "n2", fields=True))
    ),
    Row(
        "a selector and affinity",
        "",
        on_nodes(asks("zone", "In", "z0")) | {"nodeSelector": {"zone": "z1"}},
    ),
    Row("a taint", "n1 n2 n3", nodes={"n0": tainted()}),
    Row("a taint of pods that run", "n1 n2 n3", nodes={"n0": tainted("NoExecute")}),
    Row("a taint that is a preference", ALL, nodes={"n0": tainted("PreferNoSchedule")}),
    Row("a taint that is tolerated", ALL, tolerates(key="k", value="x"), nodes={"n0": tainted()}),
    Row(
        "another value is tolerated",
        "n1 n2 n3",
        tolerates(key="k", value="y"),
        nodes={"n0": tainted()},
    ),
    Row(
        "any value is tolerated",
        ALL,
        tolerates(key="k", operator="Exists"),
        nodes={"n0": tainted()},
    ),
    Row(
        "another effect is tolerated",
        "n1 n2 n3",
        tolerates(key="k", operator="Exists", effect="NoExecute"),
        nodes={"n0": tainted()},
    ),
    Row("all is tolerated", ALL, tolerates(operator="Exists"), nodes={"n0": tainted("NoExecute")}),
    Row(
        "one of two taints is tolerated",
        "n1 n2 n3",
        tolerates(key="k", operator="Exists"),
        nodes={"n0": _TWO},
    ),
    Row("a toleration without a taint", ALL, tolerates(key="k", value="x")),
    Row(
        "a cordon that is tolerated",
        ALL,
        tolerates(key="node.kubernetes.io/unschedulable", operator="Exists"),
        nodes={"n0": {"spec": {"unschedulable": True}}},
        unused="n0",
    ),
    Row(
        "a taint above a number",
        ALL,
        tolerates(key="k", operator="Gt", value="6"),
        nodes={"n0": tainted(value="7")},
    ),
    Row(
        "a taint not above a number",
        "n1 n2 n3",
        tolerates(key="k", operator="Gt", value="7"),
        nodes={"n0": tainted(value="7")},
    ),
    *(
        Row(
            f"a taint that is no number as it is usually written: {value}",
            "n1 n2 n3",
            tolerates(key="k", operator="Gt", value="5"),
            nodes={"n0": tainted(value=value)},
        )
        for value in ("1_0", "007", "9" * 20)
    ),
    Row("cores that others have", "n1 n2 n3", standing=(Standing("n0", cpu="2"),), requests=_BIG),
    Row("exactly what is left", ALL, standing=(Standing("n0", cpu="1"),), requests=_BIG),
    Row("more than any node has", "", requests={"cpu": "5"}),
    Row(
        "a resource that one node offers",
        "n2",
        nodes={"n2": {"offers": {"example.com/nic": "1"}}},
        requests={"example.com/nic": "1"},
    ),
    Row(
        "as many pods as a node takes",
        "n1 n2 n3",
        standing=(Standing("n0"),),
        nodes={"n0": {"offers": {"pods": "1"}}},
    ),
    Row("a port that is taken", "n1 n2 n3", port(80), (Standing("n0", spec=port(80)),)),
    Row(
        "the same port of another protocol", ALL, port(80), (Standing("n0", spec=port(80, "UDP")),)
    ),
    Row(
        "a port of an init container that is over",
        ALL,
        init_port(80),
        (Standing("n0", spec=init_port(80)),),
    ),
    Row(
        "a port of a sidecar",
        "n1 n2 n3",
        init_port(80, restartPolicy="Always"),
        (Standing("n0", spec=init_port(80, restartPolicy="Always")),),
    ),
    Row("another port", ALL, port(81), (Standing("n0", spec=port(80)),)),
    Row(
        "an increase that waits counts as what is held",
        ALL,
        requests=_BIG,
        standing=(resized("PodResizePending", "Infeasible", "3", "1"),),
    ),
    Row(
        "an increase that is put off counts whole",
        "n1 n2 n3",
        requests=_BIG,
        standing=(resized("PodResizePending", "Deferred", "3", "1"),),
    ),
    Row(
        "a decrease that is under way counts as what is held",
        "n1 n2 n3",
        requests=_BIG,
        standing=(resized("PodResizeInProgress", "", "500m", "3"),),
    ),
    Row(
        "what a pod as a whole holds counts while it asks for less",
        "n1 n2 n3",
        requests=_BIG,
        standing=(resized_pod("500m", "3"),),
    ),
    Row(
        "what a pod as a whole can never have does not count",
        ALL,
        requests=_BIG,
        standing=(resized_pod("3", "500m", "Infeasible"),),
    ),
    Row(
        "what a pod as a whole asks for counts while it holds less",
        "n1 n2 n3",
        requests=_BIG,
        standing=(resized_pod("3", "500m", "Deferred"),),
    ),
    Row(
        "an increase that can never be of a container that waits",
        "n1 n2 n3",
        requests=_BIG,
        standing=(unresized("3"),),
    ),
    Row(
        "all expressions of a term",
        "n1",
        on_nodes(
            {
                "matchExpressions": [
                    {"key": "zone", "operator": "In", "values": ["z0"]},
                    {"key": HOST, "operator": "NotIn", "values": ["n0"]},
                ]
            }
        ),
    ),
    Row(
        "expressions and the name of a node in a term",
        "n0",
        on_nodes(asks("zone", "In", "z0") | asks("metadata.name", "In", "n0", fields=True)),
    ),
    Row("a term of nothing picks no node", "", on_nodes({})),
    Row("a term of nothing beside another", "n0 n1", on_nodes({}, asks("zone", "In", "z0"))),
    Row(
        "a node by a host name that is not its own",
        "n3",
        {"nodeSelector": {HOST: "n0"}},
        nodes={"n0": {"labels": {HOST: "n9"}}, "n3": {"labels": {HOST: "n0"}}},
    ),
    Row(
        "a label without a value",
        "n1",
        {"nodeSelector": {"pool": ""}},
        nodes={"n0": {"labels": {"pool": "x"}}, "n1": {"labels": {"pool": ""}}},
    ),
    Row(
        "all taints of an effect are tolerated",
        "n0 n2 n3",
        tolerates(operator="Exists", effect="NoSchedule"),
        nodes={"n0": tainted(), "n1": tainted("NoExecute")},
    ),
    Row(
        "a taint that is tolerated for a while",
        ALL,
        tolerates(key="k", operator="Exists", effect="NoExecute", tolerationSeconds=1),
        nodes={"n0": tainted("NoExecute")},
    ),
    Row(
        "each of two taints is tolerated",
        ALL,
        {"tolerations": [{"key": key, "operator": "Exists"} for key in "kl"]},
        nodes={"n0": _TWO},
    ),
    Row(
        "a taint below a number",
        "n0 n2 n3",
        tolerates(key="k", operator="Lt", value="6"),
        nodes={"n0": tainted(value="5"), "n1": tainted(value="6")},
    ),
    Row(
        "memory that others have",
        "n1 n2 n3",
        standing=(Standing("n0", spec=_asking(memory="4Gi")),),
        requests={"memory": "5Gi"},
    ),
    Row(
        "storage of nodes, which one offers",
        "n2",
        nodes={"n2": {"offers": {"ephemeral-storage": "5Gi"}}},
        requests={"ephemeral-storage": "4Gi"},
    ),
    Row(
        "large pages, which one node offers",
        "n2",
        _asking(cpu="1", **{"hugepages-2Mi": "4Mi"}),
        nodes={"n2": {"offers": {"hugepages-2Mi": "8Mi"}}},
    ),
    Row(
        "a resource of which another pod has all",
        "n3",
        standing=(Standing("n2", spec=_asking(**{"example.com/nic": "1"})),),
        nodes={name: {"offers": {"example.com/nic": "1"}} for name in ("n2", "n3")},
        requests={"example.com/nic": "1"},
    ),
    Row(
        "cores of a pod that is over",
        ALL,
        standing=(Standing("n0", cpu="4", status={"phase": "Succeeded"}),),
        requests=_BIG,
    ),
    Row(
        "cores of a pod that ends",
        "n1 n2 n3",
        standing=(Standing("n0", cpu="4", going=True),),
        requests=_BIG,
    ),
    Row(
        "an init container that asks for more than all others",
        "n1 n2 n3",
        {"initContainers": [_container("init", "3")]},
        (Standing("n0", cpu="2"),),
    ),
    Row(
        "init containers that ask one after the other",
        ALL,
        {"initContainers": [_container(name, "3") for name in ("first", "then")]},
    ),
    Row(
        "sidecars that ask beside the others",
        "n1 n2 n3",
        {"initContainers": [_container("s", "2", restartPolicy="Always")]},
        (Standing("n0", cpu="1"),),
        requests={"cpu": "1500m"},
    ),
    Row(
        "a sidecar, and an init container that comes after it",
        "",
        {"initContainers": [_container("s", "2", restartPolicy="Always"), _container("init", "3")]},
    ),
    Row(
        "an init container, and a sidecar that comes after it",
        ALL,
        {"initContainers": [_container("init", "3"), _container("s", "2", restartPolicy="Always")]},
    ),
    Row(
        "what a pod as a whole asks for",
        "n1 n2 n3",
        {"resources": {"requests": {"cpu": "3"}}},
        (Standing("n0", cpu="2"),),
    ),
    Row(
        "a port of another address",
        ALL,
        port(80, hostIP="10.0.0.1"),
        (Standing("n0", spec=port(80, hostIP="10.0.0.2")),),
        unused="n0",
    ),
    Row(
        "a port of all addresses",
        "n1 n2 n3",
        port(80, hostIP="0.0.0.0"),  # noqa: S104
        (Standing("n0", spec=port(80, hostIP="10.0.0.2")),),
    ),
    Row(
        "a port of a pod that is over",
        ALL,
        port(80),
        (Standing("n0", spec=port(80), status={"phase": "Failed"}),),
    ),
    Row(
        "a pod that asks for nothing, where nothing is left",
        ALL,
        standing=(Standing("n0", cpu="4"),),
        requests={},
    ),
    Row(
        "a node that has given out more than it has, of what the pod does not ask for",
        ALL,
        standing=(Standing("n0", cpu="5"),),
        requests={"memory": "1Gi"},
    ),
    Row(
        "none of a resource that no node offers",
        ALL,
        requests={"cpu": "100m", "example.com/nic": "0"},
    ),
    Row("a node that takes no pods", "n1 n2 n3", nodes={"n0": {"offers": {"pods": "0"}}}),
    Row(
        "GPUs that others have",
        "n1 n2 n3",
        standing=(Standing("n0", spec=_asking(**{"nvidia.com/gpu": "5"})),),
        requests={"nvidia.com/gpu": "4"},
    ),
    Row(
        "exactly the GPUs that are left",
        "n0",
        standing=(
            Standing("n0", spec=_asking(**{"nvidia.com/gpu": "4"})),
            *(Standing(name, spec=_asking(**{"nvidia.com/gpu": "5"})) for name in ("n1", "n2")),
            Standing("n3", spec=_asking(**{"nvidia.com/gpu": "8"})),
        ),
        requests={"nvidia.com/gpu": "4"},
    ),
    Row(
        "an empty value is tolerated",
        "n0 n2 n3",
        tolerates(key="k"),
        nodes={"n0": tainted(value=""), "n1": tainted()},
    ),
    Row(
        "a taint of another key of the same value",
        "n1 n2 n3",
        tolerates(key="l", value="x"),
        nodes={"n0": tainted()},
    ),
    Row(
        "NotIn of several values and Exists in one term",
        "n3",
        on_nodes(
            {
                "matchExpressions": [
                    {"key": HOST, "operator": "NotIn", "values": ["n0", "n2"]},
                    {"key": "pool", "operator": "Exists"},
                ]
            }
        ),
        nodes={name: {"labels": {"pool": "x"}} for name in ("n0", "n2", "n3")},
    ),
    Row(
        "the ports of two containers, of which one is taken",
        "n1 n2 n3",
        {"containers": [*port(80)["containers"], {**port(81)["containers"][0], "name": "other"}]},
        (Standing("n0", spec=port(81)),),
    ),
)
