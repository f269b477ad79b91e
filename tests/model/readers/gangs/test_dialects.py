"""Every dialect of gangs, and which one wins."""

from __future__ import annotations

import pytest

from tests.model.readers.gangs.made import NATIVE, OLD_LABEL, gang_policy, gangs, in_native
from tests.model.readers.made import Body, group, job, node, owned, pod, reading

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


def test_a_name_with_blanks_makes_no_gang() -> None:
    """Where one ends within a sentence could not be seen, so it could not be kept from others."""
    notes = {"topology.scheduler/gang": "Deal with Acme", "topology.scheduler/gang-size": "1"}
    found = reading(pod("a", annotations=notes), strict=False)
    assert gangs(found) == {"ml/a": ["a"]}
    (problem,) = found.problems
    assert problem.field == "metadata.annotations[topology.scheduler/gang]"


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
