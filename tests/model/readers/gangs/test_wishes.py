"""What a gang asks for: laws, annotations, priorities, and what is not supported."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.gang import Strategy, TopologyPolicy
from fourleaf.model.readers import InputReading
from fourleaf.model.readers.objects.annotations import BANDWIDTH
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import gangs, only
from tests.model.readers.made import Body, config, group, job, node, owned, pod, reading


@pytest.mark.parametrize(
    ("field", "spec"),
    [
        (
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            "[0].namespaceSelector",
            {
                "affinity": {
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "topologyKey": "zone",
                                "namespaceSelector": {"matchLabels": {"team": "a"}},
                            }
                        ]
                    }
                }
            },
        ),
        (
            "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            "[0].topologyKey",
            {
                "affinity": {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {}}]
                    }
                }
            },
        ),
    ],
)
def test_what_cannot_be_honoured_is_named(field: str, spec: Body) -> None:
    """A demand that a plan cannot keep holds the gang and names the field."""
    gang = only(pod(**spec))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.UNSUPPORTED
    assert gang.hold.detail == f"Pod ml/p: {field} cannot be honoured"


def repelling(
    name: str, app: str = "a", key: str = "kubernetes.io/hostname", of: str = "", **fields: Any
) -> Body:
    """Make a pod of `app` that keeps away from pods of its own app, or of another one."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": of or app}}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return pod(name, labels={"app": app}, affinity={"podAntiAffinity": required}, **fields)


def in_zones(**zones: str) -> list[Body]:
    """Nodes, each in a zone."""
    bodies = [node(name) for name in zones]
    for body, zone in zip(bodies, zones.values(), strict=True):
        body["metadata"]["labels"]["zone"] = zone
    return bodies


def usable(*bodies: Body) -> list[str]:
    """The nodes that the one gang may use."""
    found = reading(*bodies)
    (gang,) = found.snapshot.gangs
    assert gang.hold is None
    nodes = [one for leaf in found.snapshot.fabric.leaves for one in leaf.nodes]
    return [one.name for one in nodes if gang.roles[0].constraint.selects(one)]


@pytest.mark.parametrize("who", ["waiting", "running"])
def test_a_zone_is_kept_free_of_pods_that_repel(who: str) -> None:
    """One of the two minds the other: of a and b in zone z1, c in z2 and d in none, c and d."""
    nodes = in_zones(a="z1", b="z1", c="z2", d="z3")
    del nodes[3]["metadata"]["labels"]["zone"]
    minds: Body = {"key": "zone", "of": "a" if who == "waiting" else "b"}
    runs = repelling("runs", "a", **minds) if who == "running" else pod("runs", labels={"app": "a"})
    runs["spec"]["nodeName"] = "b"
    comes = repelling("comes", "b", **minds) if who == "waiting" else pod("c", labels={"app": "b"})
    assert usable(*nodes, runs, comes) == ["c", "d"]


def test_members_that_repel_each_other_beyond_the_node_are_refused_by_name() -> None:
    """A gang of two with different zones for its members; one pod alone may have its zone."""
    notes = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    gang = only(*(repelling(name, key="zone", annotations=notes) for name in "pq"))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.UNSUPPORTED
    assert "keeps members of one gang on different zone" in gang.hold.detail
    assert usable(*in_zones(a="z1"), repelling("p", key="zone")) == ["a"]


def test_host_anti_affinity_is_one_per_node() -> None:
    """Members that repel each other on the host stand one per node."""
    notes = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    gang = only(repelling("a", annotations=notes), repelling("b", annotations=notes))
    assert gang.one_per_node
    assert gang.hold is None


def test_replicas_that_repel_each_other_take_turns() -> None:
    """Single pods that repel each other go one after the other, away from those that run."""
    found = reading(repelling("a-0", nodeName="n7"), repelling("a-1"), repelling("a-2"))
    first, second = found.snapshot.gangs
    assert first.hold is None
    (term,) = first.roles[0].constraint.affinity
    assert (term[0].operator, term[0].values, term[0].is_field) == ("NotIn", ("n7",), True)
    assert second.hold is not None
    assert second.hold.kind == ReasonKind.WAITS_FOR_GANG


def test_a_running_pod_repels_too() -> None:
    """A running pod's anti-affinity keeps a waiting pod with that label off its node."""
    gang = only(repelling("a-0", nodeName="n7"), pod("b", labels={"app": "a"}))
    assert gang.roles[0].constraint.affinity[0][0].values == ("n7",)


def test_annotations_reach_the_gang() -> None:
    """All wishes are read from the pod, and from its Job where the pod has none."""
    body = job(
        "g",
        parallelism=2,
        annotations={
            "topology.scheduler/preferred-domain": "leaf-1",
            "topology.scheduler/network-bandwidth": "200Gb",
            "topology.scheduler/latency-sensitive": "true",
            "topology.scheduler/placement-strategy": "distributed",
            "topology.scheduler/topology-policy": "Preferred",
            "topology.scheduler/movable": "true",
        },
    )
    nearer = {"topology.scheduler/network-bandwidth": "1Tb"}
    bodies = [owned(pod(f"g-{i}", annotations=nearer), "Job", "g") for i in (0, 1)]
    gang = only(node(), body, *bodies)
    assert gang.preferred_domain == "leaf-1"
    assert gang.bandwidth == 1_000_000
    assert gang.latency_sensitive
    assert gang.strategy == Strategy.DISTRIBUTED
    assert gang.policy is TopologyPolicy.PREFERRED
    assert not gang.one_per_node


def test_priorities() -> None:
    """A number wins over a class, a class over the default class, which beats zero."""
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "globalDefault": name == "usual",
        }
        for name, value in (("usual", 5), ("high", 100))
    ]
    found = reading(
        *classes,
        pod("a", priority=7, priorityClassName="high"),
        pod("b", priorityClassName="high"),
        pod("c"),
        pod("d", priorityClassName="system-cluster-critical"),
    )
    assert [gang.priority for gang in found.snapshot.gangs] == [7, 100, 5, 2_000_000_000]


def test_roles_by_request_more_gpus_first() -> None:
    """Members that ask for different amounts are roles, the one with most GPUs first."""
    head = pod("c-head", gpus=None, labels={"ray.io/cluster": "c", "ray.io/node-type": "head"})
    workers = [pod(f"c-w-{i}", labels={"ray.io/cluster": "c"}) for i in (1, 0)]
    gang = only(head, *workers)
    assert [(role.request.gpus, role.pods) for role in gang.roles] == [
        (8, ("c-w-0", "c-w-1")),
        (0, ("c-head",)),
    ]


def test_names_of_gangs_are_unique() -> None:
    """A pod that is called like a gang is told apart from it."""
    found = reading(job("g", parallelism=2), pod("g"))
    assert sorted(gangs(found)) == ["ml/g", "ml/g@pod"]


def test_now_is_the_newest_creation() -> None:
    """Without a clock the newest object says what time it is; unsubmitted pods are new."""
    old, new = pod("a"), pod("b")
    old["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    new["metadata"]["creationTimestamp"] = "2026-01-01T01:00:00+00:00"
    found = reading(old, new, pod("c"))
    moments = [gang.created - 1_767_225_600 for gang in found.snapshot.gangs]
    assert moments == [0, 3600, 3600]
    assert found.snapshot.now == 1_767_229_200


def test_a_gang_has_a_name_that_fits_into_records() -> None:
    """A longer one holds the pod by itself and says so; nothing is recorded under that name."""
    said = {"topology.scheduler/gang": "g" * 254, "topology.scheduler/gang-size": "2"}
    (gang,) = reading(node(), pod("p", annotations=said), strict=False).snapshot.gangs
    assert (gang.key.name, gang.hold and gang.hold.kind) == ("p", "Invalid")
    assert "has 254 characters" in str(gang.hold)


def test_a_flood_of_unknown_annotations_is_looked_at_in_part() -> None:
    """Sixteen are told by name, the rest is left."""
    said = {f"topology.scheduler/x{i}": "" for i in range(5000)}
    found = reading(node(), pod("p", annotations=said), strict=False)
    assert len(found.problems) == 16
    assert found.snapshot.gangs[0].hold is not None


def in_volcano(**group_spec: Any) -> InputReading:
    """Read a pod of the Volcano group g with these fields besides its size."""
    volcano = group("g", "scheduling.volcano.sh/v1beta1", minMember=1, **group_spec)
    return reading(pod("a", annotations={"scheduling.k8s.io/group-name": "g"}), volcano)


def test_hard_network_topology_of_volcano_is_not_supported() -> None:
    """It would have to hold, so the gang waits for that; a soft one is only warned about."""
    hold = in_volcano(networkTopology={"mode": "hard", "highestTierAllowed": 1})
    (gang,) = hold.snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    assert gang.hold.unblock == ("Remove spec.networkTopology.",)
    soft = in_volcano(networkTopology={"mode": "soft"})
    assert soft.snapshot.gangs[0].hold is None
    assert [(one.is_error, one.field) for one in soft.problems] == [(False, "spec.networkTopology")]


def test_least_resources_of_a_group_are_warned_about() -> None:
    """Members start together with what each requests, so the sum of it decides nothing."""
    found = in_volcano(minResources={"nvidia.com/gpu": 8})
    assert found.snapshot.gangs[0].hold is None
    assert [(one.is_error, one.field) for one in found.problems] == [(False, "spec.minResources")]


@pytest.mark.parametrize(("pods", "ends"), [(0, 0), (500, 500), (2000, 1000)])
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("said", [{"priorityClassName": "gold"}, {"priority": 1000}])
def test_a_group_lowers_the_priority_of_its_pods_and_never_raises_it(
    pods: int, ends: int, native: bool, said: Body
) -> None:
    """Quotas judge the class of a pod, and that of no PodGroup: gold is 1000."""
    gold = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
    bodies: list[Body] = [gold | {"metadata": {"name": "gold"}}]
    if native:
        bodies.append(pod("a", priority=pods, schedulingGroup={"podGroupName": "g"}))
        policy = {"gang": {"minCount": 1}}
        bodies.append(group("g", "scheduling.k8s.io/v1alpha2", schedulingPolicy=policy, **said))
    else:
        named = {"scheduling.k8s.io/group-name": "g"}
        bodies.append(pod("a", annotations=named, priority=pods))
        said = said | {"priorityClassName": "gold"}
        bodies.append(group("g", "scheduling.volcano.sh/v1beta1", minMember=1, **said))
    (gang,) = reading(*bodies).snapshot.gangs
    assert gang.priority == ends


def test_required_topology_of_kueue_is_not_supported() -> None:
    """The pods would have to stand in one domain of a level that only Kueue knows here."""
    key = "kueue.x-k8s.io/podset-required-topology"
    (gang,) = reading(pod(annotations={key: "cloud.google.com/gce-topology-block"})).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    assert gang.hold.unblock == (f"Remove metadata.annotations[{key}].",)


def test_a_size_that_says_what_counts_anyway_is_no_error() -> None:
    """A Job of 2 with gang-size 2, also once one has succeeded, and a bare pod of size 1."""
    two = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    assert not reading(job("a", annotations=two, parallelism=2, completions=3)).problems
    late = job("a", annotations=two, parallelism=2, completions=3) | {"status": {"succeeded": 2}}
    assert not reading(late, owned(pod("a-2"), "Job", "a")).problems
    assert not reading(pod(annotations={"topology.scheduler/gang-size": "1"})).problems


def test_nodes_that_the_input_lacks_are_warned_about() -> None:
    """Two GPU pods on a node that is not there are told of once, a pod without GPUs never."""
    bodies = [
        node("n1"),
        pod("a", nodeName="n1", phase="Running"),
        pod("b", nodeName="gone", phase="Running"),
        pod("c", nodeName="gone", phase="Running"),
        pod("d", gpus=None, nodeName="elsewhere", phase="Running"),
    ]
    (warning,) = reading(*bodies).problems
    assert not warning.is_error
    assert (warning.object, warning.field, warning.value) == (
        "Pod ml/b",
        "spec.nodeName",
        '"gone"',
    )
    assert "GPU pods there: 2" in warning.message


@pytest.mark.parametrize(
    ("network", "labels", "warned"),
    [
        ({}, {}, True),
        ({}, {BANDWIDTH: "400Gb"}, False),
        ({"nodeBandwidth": "400Gb"}, {}, False),
        ({"requireStated": True}, {}, False),
    ],
)
def test_bandwidth_that_nothing_is_known_of_is_warned_about(
    network: Body, labels: dict[str, str], warned: bool
) -> None:
    """Where no node states any, the pod that asks for it is told that any node will do."""
    one = node("n1")
    one["metadata"]["labels"] |= labels
    asks = pod(annotations={BANDWIDTH: "200Gb"})
    problems = reading(one, asks, config(network=network)).problems
    found = [f"{p.object}: {p.field}" for p in problems if "held against nothing" in p.message]
    assert found == ([f"Pod ml/p: metadata.annotations[{BANDWIDTH}]"] if warned else [])
