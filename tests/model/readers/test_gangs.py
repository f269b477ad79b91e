"""Every dialect of gangs, who is in, who is surplus, who is bound, and what holds them."""

from __future__ import annotations

from typing import Any

import pytest

from model.gang import Gang, Strategy, TopologyPolicy
from model.readers import Reading
from model.reasons import ReasonKind
from tests.model.readers.objects import Body, group, job, node, owned, pod, reading

NATIVE = "scheduling.k8s.io/v1alpha2"
OLD_LABEL = "pod-group.scheduling.sigs.k8s.io"


def gangs(found: Reading) -> dict[str, list[str]]:
    """Gang -> names of the pods to place, in rank order."""
    return {
        str(gang.key): [name for role in gang.roles for name in role.pods]
        for gang in found.snapshot.gangs
    }


def only(*bodies: Body) -> Gang:
    """The one gang of `bodies`."""
    (gang,) = reading(*bodies).snapshot.gangs
    return gang


def gang_policy(least: int) -> Body:
    """Make the spec of a native PodGroup."""
    return {"schedulingPolicy": {"gang": {"minCount": least}}}


def in_native(name: str, **fields: Any) -> Body:
    """Make a pod of the native group g."""
    return pod(name, schedulingGroup={"podGroupName": "g"}, **fields)


DIALECTS: dict[str, list[Body]] = {
    "native v1alpha2": [
        in_native("a-0"),
        in_native("a-1"),
        group("g", NATIVE, **gang_policy(2)),
    ],
    "native v1beta1": [
        in_native("a-0"),
        in_native("a-1"),
        group("g", "scheduling.k8s.io/v1beta1", **gang_policy(2)),
    ],
    "coscheduling": [
        pod("a-0", labels={"scheduling.x-k8s.io/pod-group": "g"}),
        pod("a-1", labels={"scheduling.x-k8s.io/pod-group": "g"}),
        group("g", "scheduling.x-k8s.io/v1alpha1", minMember=2),
    ],
    "older coscheduling label": [
        pod("a-0", labels={OLD_LABEL: "g"}),
        pod("a-1", labels={OLD_LABEL: "g"}),
        group("g", "scheduling.x-k8s.io/v1alpha1", minMember=2),
    ],
    "volcano": [
        pod("a-0", annotations={"scheduling.k8s.io/group-name": "g"}),
        pod("a-1", annotations={"scheduling.k8s.io/group-name": "g"}),
        group("g", "scheduling.volcano.sh/v1beta1", minMember=2),
    ],
    "kueue": [
        pod(
            name,
            labels={"kueue.x-k8s.io/pod-group-name": "g"},
            annotations={"kueue.x-k8s.io/pod-group-total-count": "2"},
        )
        for name in ("a-0", "a-1")
    ],
    "job set by label": [
        pod("a-0", labels={"jobset.sigs.k8s.io/jobset-name": "g"}),
        pod("a-1", labels={"jobset.sigs.k8s.io/jobset-name": "g"}),
    ],
    "ray by label": [
        pod("a-0", labels={"ray.io/cluster": "g"}),
        pod("a-1", labels={"ray.io/cluster": "g"}),
    ],
    "job": [
        owned(pod("a-0"), "Job", "g"),
        owned(pod("a-1"), "Job", "g"),
        job("g", parallelism=2),
    ],
    "indexed job without its object": [
        owned(
            pod(f"a-{i}", annotations={"batch.kubernetes.io/job-completion-index": str(i)}),
            "Job",
            "g",
        )
        for i in (0, 1)
    ],
    "ours": [
        pod(
            name,
            annotations={"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"},
        )
        for name in ("a-0", "a-1")
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_makes_one_gang(dialect: str) -> None:
    """Two pods that say in any dialect that they belong to g are one gang ml/g, unheld."""
    found = reading(*DIALECTS[dialect])
    assert gangs(found) == {"ml/g": ["a-0", "a-1"]}
    assert found.snapshot.gangs[0].hold is None


def test_the_first_dialect_wins() -> None:
    """A pod with a native group and our annotation belongs to the native group."""
    notes = {"topology.scheduler/gang": "other", "topology.scheduler/gang-size": "1"}
    bodies = [in_native("a", annotations=notes), group("g", NATIVE, **gang_policy(1))]
    assert gangs(reading(*bodies)) == {"ml/g": ["a"]}


def test_one_gang_per_group_of_a_leader_worker_set() -> None:
    """Each group of a LeaderWorkerSet is a gang of its own, its leader first."""
    bodies = [
        pod(
            f"lws-{g}" + (f"-{w}" if w else ""),
            labels={
                "leaderworkerset.sigs.k8s.io/name": "lws",
                "leaderworkerset.sigs.k8s.io/group-index": str(g),
                "leaderworkerset.sigs.k8s.io/worker-index": str(w),
            },
            annotations={"leaderworkerset.sigs.k8s.io/size": "2"},
        )
        for g in (0, 1)
        for w in (1, 0)
    ]
    assert gangs(reading(*bodies)) == {
        "ml/lws-0": ["lws-0", "lws-0-1"],
        "ml/lws-1": ["lws-1", "lws-1-1"],
    }


def test_a_pod_alone_is_its_own_gang() -> None:
    """Pods that name no gang are gangs of one under their own names, in natural order."""
    assert gangs(reading(pod("b-10"), pod("b-9"))) == {"ml/b-9": ["b-9"], "ml/b-10": ["b-10"]}


def test_basic_groups_start_pod_by_pod() -> None:
    """A native group with the basic policy has no gang: its pods start one by one."""
    bodies = [
        in_native("a"),
        in_native("b"),
        group("g", NATIVE, schedulingPolicy={"basic": {}}),
    ]
    found = reading(*bodies)
    assert gangs(found) == {"ml/g+a": ["a"], "ml/g+b": ["b"]}
    assert all(gang.hold is None for gang in found.snapshot.gangs)


def test_a_pod_of_a_basic_group_keeps_its_name_once_it_runs() -> None:
    """What runs, what waits and what a repair would move go by the same kind of name."""
    runs = in_native("a-0", nodeName="n1")
    basic = group("g", NATIVE, schedulingPolicy={"basic": {}})
    found = reading(node("n1"), runs, in_native("a-1"), basic)
    assert [str(one.gang) for one in found.snapshot.running] == ["ml/g+a-0"]
    assert [str(one.gang.key) for one in found.standing({"n1"}, False)] == [
        "ml/g+a-0",
        "ml/g+a-1",
    ]


def test_surplus_waits_for_the_gang() -> None:
    """Of four pods and minMember 2 the two of lowest rank are the gang; the others wait."""
    bodies = [in_native(f"a-{i}") for i in (10, 3, 2, 1)]
    found = reading(*bodies, group("g", NATIVE, **gang_policy(2)))
    assert gangs(found) == {
        "ml/g": ["a-1", "a-2"],
        "ml/g+a-3": ["a-3"],
        "ml/g+a-10": ["a-10"],
    }
    holds = [gang.hold.kind if gang.hold else None for gang in found.snapshot.gangs]
    assert holds == [None, ReasonKind.WAITS_FOR_GANG, ReasonKind.WAITS_FOR_GANG]


def test_surplus_of_a_bound_gang_is_free() -> None:
    """Once minMember pods run, each further pod is placed on its own."""
    bodies = [
        in_native("a-0", nodeName="n1"),
        in_native("a-1", nodeName="n1"),
        in_native("a-2"),
        group("g", NATIVE, **gang_policy(2)),
    ]
    found = reading(*bodies)
    assert gangs(found) == {"ml/g+a-2": ["a-2"]}
    assert found.snapshot.gangs[0].hold is None


def test_running_members_are_bound() -> None:
    """A member that runs stands in the role as bound, and as a running pod of the gang."""
    bodies = [
        in_native("a-0", nodeName="n1"),
        in_native("a-1"),
        group("g", NATIVE, **gang_policy(2)),
    ]
    found = reading(*bodies)
    (role,) = found.snapshot.gangs[0].roles
    assert role.pods == ("a-1",)
    assert role.bound == (("a-0", "n1"),)
    (running,) = found.snapshot.running
    assert (str(running), running.node, str(running.gang)) == ("ml/a-0", "n1", "ml/g")
    assert running.ours


def test_finished_members_count_and_hold_nothing() -> None:
    """One member succeeded: the gang of three needs the other two, and nothing runs."""
    bodies = [
        in_native("a-0", nodeName="n1", phase="Succeeded"),
        in_native("a-1"),
        in_native("a-2"),
        group("g", NATIVE, **gang_policy(3)),
    ]
    found = reading(*bodies)
    assert gangs(found) == {"ml/g": ["a-1", "a-2"]}
    assert found.snapshot.gangs[0].hold is None
    assert found.snapshot.running == ()


def test_a_group_that_does_not_exist_holds_its_pods() -> None:
    """Pods may come before their PodGroup: they wait for it."""
    gang = only(in_native("a"))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.MEMBERS_MISSING
    assert gang.hold.unblock == ("Create PodGroup g in namespace ml.",)


def test_a_job_with_some_pods_is_not_expanded() -> None:
    """A Job of four with two pods is a gang that misses two; no pods are made up."""
    bodies = [owned(pod(f"g-{i}"), "Job", "g") for i in (0, 1)]
    gang = only(*bodies, job("g", parallelism=4, completions=4))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.MEMBERS_MISSING
    assert gang.hold.detail == "2 of 4 members exist"


def test_a_job_winds_down() -> None:
    """Seven of eight completions are done: the last pod needs no companions."""
    body = job("g", parallelism=4, completions=8) | {"status": {"succeeded": 7}}
    gang = only(owned(pod("g-x"), "Job", "g"), body)
    assert gang.hold is None


def test_gates_hold() -> None:
    """A gated pod keeps its gang back, and the hold says so."""
    gang = only(pod(schedulingGates=[{"name": "example.com/quota"}]))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.GATED


def test_terminating_members_are_not_counted() -> None:
    """A pod that is being deleted holds its room, but its replacement takes its place."""
    old = in_native("a-0", nodeName="n1")
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = reading(old, in_native("a-1"), group("g", NATIVE, **gang_policy(1)))
    assert gangs(found) == {"ml/g": ["a-1"]}
    assert found.snapshot.gangs[0].roles[0].bound == ()
    assert len(found.snapshot.running) == 1


def test_a_pod_of_anybody_on_a_node_runs() -> None:
    """Room is held by whoever has a nodeName, but only our pods count as ours."""
    found = reading(pod(nodeName="n1", schedulerName="default-scheduler"))
    (running,) = found.snapshot.running
    assert running.request.gpus == 8
    assert not running.ours
    assert running.gang is None


@pytest.mark.parametrize(
    ("field", "spec"),
    [
        (
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
            {
                "affinity": {
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]
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
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]
                    }
                }
            },
        ),
        ("spec.topologySpreadConstraints[0]", {"topologySpreadConstraints": [{"maxSkew": 1}]}),
        ("spec.resourceClaims", {"resourceClaims": [{"name": "gpu"}]}),
    ],
)
def test_what_cannot_be_honoured_is_named(field: str, spec: Body) -> None:
    """A demand that a plan cannot keep holds the gang and names the field."""
    gang = only(pod(**spec))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.UNSUPPORTED
    assert gang.hold.detail == f"Pod ml/p: {field} cannot be honoured"


def repelling(name: str, app: str = "a", **fields: Any) -> Body:
    """Make a pod that keeps away from pods of its own app on the host."""
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return pod(name, labels={"app": app}, affinity={"podAntiAffinity": required}, **fields)


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
    assert gang.strategy is Strategy.DISTRIBUTED
    assert gang.policy is TopologyPolicy.PREFERRED
    assert gang.one_per_node


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


def in_volcano(**group_spec: Any) -> Reading:
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


def test_the_priority_class_of_a_volcano_group_counts() -> None:
    """A group of class gold (1000) has that priority, whatever its pods say."""
    gold = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
    body = pod("a", annotations={"scheduling.k8s.io/group-name": "g"})
    volcano = group("g", "scheduling.volcano.sh/v1beta1", minMember=1, priorityClassName="gold")
    (gang,) = reading(body, volcano, gold | {"metadata": {"name": "gold"}}).snapshot.gangs
    assert gang.priority == 1000


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
