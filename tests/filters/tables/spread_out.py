"""Rows about pods that are to be spread; numbers in a name are pods by node, or by zone."""

from __future__ import annotations

from tests.filters.tables.table import (
    ALL,
    HOST,
    Row,
    Standing,
    asks,
    count,
    near,
    on_nodes,
    spread,
    spreading,
    term,
)

_ALL_OVER = {
    "action": "RestartAllContainers",
    "exitCodes": {"operator": "In", "values": [42]},
}
_RESTARTS = {"restartPolicyRules": [_ALL_OVER]}
_TAINTED = {"spec": {"taints": [{"key": "k", "value": "x", "effect": "NoSchedule"}]}}
_POOL = {name: {"labels": {"pool": "x"}} for name in ("n0", "n1", "n3")}

SPREAD_OUT = (
    Row("an empty cluster", ALL, spreading(spread(HOST))),
    Row("1 1 0 1 by host, a skew of 1", "n2", spreading(spread(HOST)), count(n0=1, n1=1, n3=1)),
    Row("2 0 0 1 by host, a skew of 2", "n1 n2 n3", spreading(spread(HOST, 2)), count(n0=2, n3=1)),
    Row("2 1 by zone", "n2 n3", spreading(spread("zone")), count(n0=1, n1=1, n2=1)),
    Row("2 1 by zone, a skew of 2", ALL, spreading(spread("zone", 2)), count(n0=1, n1=1, n2=1)),
    Row(
        "pods of others do not count",
        ALL,
        spreading(spread("zone")),
        (Standing("n0", "b"), Standing("n1", "b")),
    ),
    Row(
        "pods of other namespaces do not count",
        ALL,
        spreading(spread("zone")),
        (Standing("n0", namespace="ops"), Standing("n1", namespace="ops")),
    ),
    Row(
        "pods that end do not count", ALL, spreading(spread("zone")), (Standing("n0", going=True),)
    ),
    Row(
        "by zone and by host",
        "n2",
        spreading(spread("zone"), spread(HOST)),
        count(n0=1, n1=1, n3=1),
    ),
    Row(
        "by zone and by host, with nothing left",
        "",
        spreading(spread("zone"), spread(HOST)) | on_nodes(asks(HOST, "NotIn", "n0")),
        count(n1=2, n2=2, n3=1),
    ),
    Row(
        "tied to a zone: its nodes alone are compared",
        "n1",
        spreading(spread(HOST)) | on_nodes(asks("zone", "In", "z0")),
        count(n0=1, n3=1),
    ),
    Row(
        "tied by a selector",
        "n1",
        spreading(spread(HOST)) | {"nodeSelector": {"zone": "z0"}},
        count(n0=1, n2=1, n3=1),
    ),
    Row(
        "tied to a zone, but all nodes are compared",
        "",
        spreading(spread("zone", nodeAffinityPolicy="Ignore")) | {"nodeSelector": {"zone": "z0"}},
        count(n0=1),
    ),
    Row(
        "a node with a taint is compared",
        "",
        spreading(spread("zone")),
        count(n0=1),
        {"n2": _TAINTED, "n3": _TAINTED},
    ),
    Row(
        "a node with a taint is not compared",
        "n0 n1",
        spreading(spread("zone", nodeTaintsPolicy="Honor")),
        count(n0=1),
        {"n2": _TAINTED, "n3": _TAINTED},
    ),
    Row(
        "fewer domains than asked for",
        "",
        spreading(spread("zone", minDomains=3)),
        count(n0=1, n2=1),
    ),
    Row(
        "fewer domains than asked for, a skew of 2",
        "n2 n3",
        spreading(spread("zone", 2, minDomains=3)),
        count(n0=1, n1=1, n2=1),
    ),
    Row(
        "as many domains as asked for",
        ALL,
        spreading(spread("zone", 2, minDomains=2)),
        count(n0=1, n1=1, n2=1),
    ),
    Row(
        "a spread that is a preference",
        ALL,
        spreading(spread("zone", whenUnsatisfiable="ScheduleAnyway")),
        count(n0=3),
    ),
    Row(
        "nodes without the label are left out",
        "n2 n3",
        spreading(spread("zone")),
        count(n0=1),
        {"n1": {"labels": {"zone": None}}},
    ),
    Row(
        "a pod that its own selector does not pick",
        ALL,
        spreading(spread("zone", app="b")),
        (Standing("n0", "b"),),
    ),
    Row(
        "the same where the skew is reached",
        "n2 n3",
        spreading(spread("zone", app="b")),
        (Standing("n0", "b"), Standing("n1", "b")),
    ),
    Row(
        "by its own label",
        "n2 n3",
        spreading({**spread("zone", matchLabelKeys=["app"]), "labelSelector": {}}),
        (Standing("n0"), Standing("n2", "b"), Standing("n3", "b")),
    ),
    Row(
        "over zones of which one has no kubelet with a feature that the pod needs",
        "",
        spreading(spread("zone"))
        | {"containers": [{"name": "main", "restartPolicy": "Never", **_RESTARTS}]},
        count(n0=1),
        nodes={"n0": {"features": ["RestartAllContainersOnContainerExits"]}},
    ),
    Row(
        "by its own label, which was another one when it came",
        ALL,
        spreading(
            {
                **spread("zone", matchLabelKeys=["app"]),
                "labelSelector": {
                    "matchExpressions": [{"key": "app", "operator": "In", "values": ["b"]}]
                },
            }
        ),
        (Standing("n0", "b"), Standing("n0"), Standing("n1", "b")),
    ),
    Row(
        "by zone, of the nodes of a selector alone",
        "n3",
        spreading(spread("zone")) | {"nodeSelector": {"pool": "x"}},
        count(n0=1, n1=1, n2=1, n3=1),
        _POOL,
    ),
    Row(
        "by zone, of all nodes whatever the selector",
        "n0 n1 n3",
        spreading(spread("zone", nodeAffinityPolicy="Ignore")) | {"nodeSelector": {"pool": "x"}},
        count(n0=1, n1=1, n2=1, n3=1),
        _POOL,
    ),
    Row(
        "by zone of all nodes, and by host of those of a selector without a taint",
        "n0 n3",
        spreading(
            spread("zone", nodeAffinityPolicy="Ignore"), spread(HOST, nodeTaintsPolicy="Honor")
        )
        | {"nodeSelector": {"pool": "x"}},
        count(n0=1, n1=1, n2=1, n3=1),
        {**_POOL, "n1": {**_POOL["n1"], **_TAINTED}},
    ),
    Row(
        "by zone, without a pod on a node with a taint",
        "n3",
        spreading(spread("zone", nodeTaintsPolicy="Honor")),
        count(n0=1, n1=1, n2=1, n3=1),
        {"n2": _TAINTED},
    ),
    Row(
        "by zone, with a pod on a node with a taint",
        "n0 n1 n3",
        spreading(spread("zone")),
        count(n0=1, n1=1, n2=1, n3=1),
        {"n2": _TAINTED},
    ),
    Row(
        "a taint that is tolerated is compared",
        "n2 n3",
        spreading(spread("zone", nodeTaintsPolicy="Honor"))
        | {"tolerations": [{"key": "k", "operator": "Exists"}]},
        count(n0=1),
        {"n2": _TAINTED, "n3": _TAINTED},
    ),
    Row(
        "2 2 1 by host, a skew of 2, of fewer hosts than asked for",
        "n3",
        spreading(spread(HOST, 2, minDomains=4)) | on_nodes(asks(HOST, "NotIn", "n0")),
        count(n1=2, n2=2, n3=1),
    ),
    Row(
        "2 2 1 by host, a skew of 2, of more hosts than asked for",
        "n1 n2 n3",
        spreading(spread(HOST, 2, minDomains=2)) | on_nodes(asks(HOST, "NotIn", "n0")),
        count(n1=2, n2=2, n3=1),
    ),
    Row(
        "pods that are over do not count",
        ALL,
        spreading(spread("zone")),
        (Standing("n0", status={"phase": "Succeeded"}),),
    ),
    Row(
        "a selector of nothing counts no pod",
        ALL,
        spreading({**spread("zone"), "labelSelector": {}}),
        (Standing("n0", "b"), Standing("n1", "c"), Standing("n2", "b", "ops")),
    ),
    Row(
        "no selector counts no pod",
        ALL,
        spreading({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}),
        count(n0=2),
    ),
    Row("by a label that no node has", "", spreading(spread("rack")), count(n0=1)),
    Row(
        "a zone that is full is compared",
        "",
        spreading(spread("zone")),
        (Standing("n0"), Standing("n2", "b", cpu="4"), Standing("n3", "b", cpu="4")),
    ),
    Row(
        "cordoned nodes are compared",
        "",
        spreading(spread("zone")),
        count(n0=1),
        {name: {"spec": {"unschedulable": True}} for name in ("n2", "n3")},
    ),
    Row(
        "spread out, and near another app",
        "n1",
        spreading(spread(HOST)) | near(term("b")),
        (Standing("n0"), Standing("n0", "b"), Standing("n2"), Standing("n3")),
    ),
)
