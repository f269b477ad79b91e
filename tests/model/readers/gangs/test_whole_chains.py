"""Pods whose owners have owners: who starts together is what the whole chain says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fourleaf.model.gang import Gang
from fourleaf.model.problems import Severity
from fourleaf.model.readers import Source, read
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.made import TEMPLATE, Body, job, node, owned, owner, pod

TRAINER, JOB_SETS = "trainer.kubeflow.org/v1alpha1", "jobset.x-k8s.io/v1alpha2"
RAY, GROVE, PODGANGS = "ray.io/v1", "grove.io/v1alpha1", "scheduler.grove.io/v1alpha1"


def annotated(body: Body) -> Body:
    """`body`, which wants its gangs to be spread out."""
    body["metadata"]["annotations"] = {"topology.scheduler/placement-strategy": "distributed"}
    return body


def labelled(body: Body, **labels: str) -> Body:
    """`body` with labels of a group: `jobset.sigs.k8s.io/x` is `jobset_x`, and so on."""
    groups = {"jobset": "jobset.sigs.k8s.io", "ray": "ray.io", "grove": "grove.io"}
    body["metadata"]["labels"] = {
        f"{groups[key.split('_')[0]]}/{key.split('_', 1)[1].replace('_', '-')}": value
        for key, value in labels.items()
    }
    return body


def in_cluster(*bodies: Body) -> Mapping[str, Gang]:
    """The gangs of a whole cluster of 16 nodes, by name; no object is wrong."""
    nodes = [node(f"n{i}") for i in range(16)]
    found = read([Source("cluster", objects=[*nodes, *bodies])], strict=False, whole=True)
    assert not any(one.severity is Severity.ERROR for one in found.problems)
    return {gang.key.name: gang for gang in found.snapshot.gangs}


def pods_of(gang: Gang) -> set[str]:
    """The pods to place."""
    return {name for role in gang.roles for name in role.pods}


def waits_for(gang: Gang, detail: str) -> bool:
    """Whether a gang is held for members that are not there."""
    hold = gang.hold
    return hold is not None and (hold.kind, hold.detail) == (ReasonKind.MEMBERS_MISSING, detail)


def train_job(*roles: tuple[str, int], **job_set: Any) -> tuple[list[Body], dict[str, list[Body]]]:
    """A TrainJob of roles with so many pods each: owners from top to bottom, and pods by role."""
    template = [
        {"name": role, "template": {"spec": {"parallelism": count, "template": TEMPLATE}}}
        | job_set.get(role, {})
        for role, count in roles
    ]
    owners = [
        annotated(owner("TrainJob", TRAINER, "t", runtimeRef={"name": "torch"})),
        owned(owner("JobSet", JOB_SETS, "t", replicatedJobs=template), "TrainJob", "t", TRAINER),
    ]
    pods: dict[str, list[Body]] = {}
    for role, count in roles:
        made = job(f"t-{role}-0", parallelism=count, completions=count, completionMode="Indexed")
        owners.append(owned(made, "JobSet", "t", JOB_SETS))
        pods[role] = [
            labelled(
                owned(pod(f"t-{role}-0-{i}"), "Job", f"t-{role}-0"),
                jobset_jobset_name="t",
                jobset_replicatedjob_name=role,
            )
            for i in range(count)
        ]
    return owners, pods


def test_launcher_and_nodes_of_a_train_job_start_together() -> None:
    """TrainJob, JobSet, two Jobs, 1 + 3 pods: one gang of four, as its TrainJob wants it.

    With the launcher, or one of the nodes, missing, none of the others starts.
    """
    owners, pods = train_job(("launcher", 1), ("node", 3))
    four = [*pods["launcher"], *pods["node"]]
    (gang,) = in_cluster(*owners, *four).values()
    assert (gang.hold, gang.strategy) == (None, "distributed")
    assert pods_of(gang) == {"t-launcher-0-0", *(f"t-node-0-{i}" for i in range(3))}
    for i in range(4):
        (gang,) = in_cluster(*owners, *four[:i], *four[i + 1 :]).values()
        assert waits_for(gang, "3 of 4 members exist")


def test_a_job_that_its_train_job_has_not_made_yet_is_waited_for() -> None:
    """The Job of the three nodes is not there: the launcher alone is one of four."""
    owners, pods = train_job(("launcher", 1), ("node", 3))
    (gang,) = in_cluster(*owners[:-1], *pods["launcher"]).values()
    assert waits_for(gang, "1 of 4 members exist")


def test_initializers_of_a_train_job_run_before_its_nodes() -> None:
    """The nodes depend on the initializer: it starts alone, and the nodes start together after."""
    after = {"dependsOn": [{"name": "dataset-initializer", "status": "Complete"}]}
    owners, pods = train_job(("dataset-initializer", 1), ("node", 3), node=after)
    (gang,) = in_cluster(*owners, *pods["dataset-initializer"]).values()
    assert (gang.key.name, gang.hold) == ("t-dataset-initializer", None)
    done = [one | {"status": {"phase": "Succeeded"}} for one in pods["dataset-initializer"]]
    gangs = in_cluster(*owners, *done, *pods["node"][:2])
    assert waits_for(gangs["t-node"], "2 of 3 members exist")
    gangs = in_cluster(*owners, *done, *pods["node"])
    assert gangs["t-node"].hold is None
    assert pods_of(gangs["t-node"]) == {f"t-node-0-{i}" for i in range(3)}


def test_a_train_job_whose_job_set_is_not_there_holds_its_pods() -> None:
    """In a whole cluster the size is that of the JobSet; the Jobs alone do not say it."""
    owners, pods = train_job(("launcher", 1), ("node", 3))
    top, _, *jobs = owners
    gangs = in_cluster(top, *jobs, *pods["launcher"], *pods["node"])
    assert gangs
    assert all(gang.hold is not None for gang in gangs.values())


def ray_job() -> tuple[list[Body], list[Body]]:
    """A RayJob whose cluster has a head, two workers of 8 GPUs and one with a GPU."""
    groups = [
        {"groupName": "large", "replicas": 2, "template": TEMPLATE},
        {"groupName": "small", "replicas": 1, "template": TEMPLATE},
    ]
    cluster = {"headGroupSpec": {"template": TEMPLATE}, "workerGroupSpecs": groups}
    owners = [
        annotated(owner("RayJob", RAY, "r", rayClusterSpec=cluster, entrypoint="python x.py")),
        owned(owner("RayCluster", RAY, "r-abcde", **cluster), "RayJob", "r", RAY),
    ]
    names = {"head": 8, "large-worker-a": 8, "large-worker-b": 8, "small-worker-a": 1}
    pods = [
        labelled(
            owned(pod(f"r-abcde-{name}", gpus), "RayCluster", "r-abcde", RAY),
            ray_cluster="r-abcde",
            ray_group="headgroup" if name == "head" else name.split("-")[0],
        )
        for name, gpus in names.items()
    ]
    return owners, pods


def test_head_and_workers_of_a_ray_job_start_together() -> None:
    """RayJob, RayCluster, a head and workers of two groups: one gang of four in two shapes.

    With the head, or a worker of either group, missing, none of the others starts.
    """
    owners, pods = ray_job()
    (gang,) = in_cluster(*owners, *pods).values()
    assert (gang.hold, gang.strategy) == (None, "distributed")
    assert pods_of(gang) == {one["metadata"]["name"] for one in pods}
    for i in range(4):
        (gang,) = in_cluster(*owners, *pods[:i], *pods[i + 1 :]).values()
        assert waits_for(gang, "3 of 4 members exist")


def test_the_pod_that_submits_a_ray_job_neither_waits_nor_is_waited_for() -> None:
    """It comes once the cluster runs; its Job has the name of the RayJob, which owns it."""
    owners, pods = ray_job()
    submits = owned(job("r", gpus=None, parallelism=1, completions=1), "RayJob", "r", RAY)
    submitter = owned(pod("r-xyz", None), "Job", "r")
    gangs = in_cluster(*owners, submits, *pods[:3], submitter)
    assert (pods_of(gangs["r-xyz"]), gangs["r-xyz"].hold) == ({"r-xyz"}, None)
    assert waits_for(gangs["r-abcde"], "3 of 4 members exist")


def test_a_ray_job_whose_cluster_is_not_there_holds_its_pods() -> None:
    """The size is that of the RayCluster, which pods by themselves do not say."""
    (top, _), pods = ray_job()
    gangs = in_cluster(top, *pods)
    assert gangs
    assert all(gang.hold is not None for gang in gangs.values())


SCALED = ("x-0-workers-1-decode",)
"""Cliques of the second replica of the scaling group, which has a PodGang of its own."""


def pod_clique_set() -> tuple[list[Body], dict[str, list[Body]]]:
    """A PodCliqueSet of a router, and of a scaling group of two replicas, each with two decoders.

    The router and the first replica are the PodGang x-0, the second replica is x-0-workers-0.
    """
    cliques = {"x-0-router": 1, "x-0-workers-0-decode": 2, "x-0-workers-1-decode": 2}
    owners = [
        annotated(owner("PodCliqueSet", GROVE, "x", replicas=1)),
        owned(
            owner("PodCliqueScalingGroup", GROVE, "x-0-workers", replicas=2, minAvailable=1),
            "PodCliqueSet",
            "x",
            GROVE,
        ),
    ]
    gangs: dict[str, list[Body]] = {"x-0": [], "x-0-workers-0": []}
    pods: dict[str, list[Body]] = {"x-0": [], "x-0-workers-0": []}
    for clique, count in cliques.items():
        made = owner("PodClique", GROVE, clique, replicas=count, minAvailable=count)
        router = clique == "x-0-router"
        above = ("PodCliqueSet", "x") if router else ("PodCliqueScalingGroup", "x-0-workers")
        owners.append(owned(made, *above, GROVE))
        name = "x-0-workers-0" if clique in SCALED else "x-0"
        gangs[name].append({"name": clique, "minReplicas": count, "podReferences": []})
        pods[name] += [
            labelled(
                owned(pod(f"{clique}-{i}"), "PodClique", clique, GROVE),
                grove_podgang=name,
                grove_podclique=clique,
            )
            for i in "ab"[:count]
        ]
    owners += [
        owned(owner("PodGang", PODGANGS, name, podgroups=groups), "PodCliqueSet", "x", GROVE)
        for name, groups in gangs.items()
    ]
    return owners, pods


def test_a_pod_clique_set_starts_as_its_pod_gangs_say() -> None:
    """1 router and 2 decoders together, the 2 decoders of the second replica together.

    One missing holds its own gang alone, whichever it is, and two of another clique are not it.
    """
    owners, pods = pod_clique_set()
    base, scaled = pods["x-0"], pods["x-0-workers-0"]
    gangs = in_cluster(*owners, *base, *scaled)
    assert {name: pods_of(gang) for name, gang in gangs.items()} == {
        "x-0": {"x-0-router-a", "x-0-workers-0-decode-a", "x-0-workers-0-decode-b"},
        "x-0-workers-0": {"x-0-workers-1-decode-a", "x-0-workers-1-decode-b"},
    }
    assert {(gang.hold, gang.strategy) for gang in gangs.values()} == {(None, "distributed")}
    for i in range(3):
        gangs = in_cluster(*owners, *base[:i], *base[i + 1 :], *scaled)
        assert waits_for(gangs["x-0"], "2 of 3 members exist")
        assert gangs["x-0-workers-0"].hold is None
    gangs = in_cluster(*owners, *base, scaled[0])
    assert gangs["x-0"].hold is None
    assert waits_for(gangs["x-0-workers-0"], "1 of 2 members exist")


@pytest.mark.parametrize("name", ["x-0", "x-0-workers-0"])
def test_pods_of_a_clique_wait_until_grove_has_said_who_starts_together(name: str) -> None:
    """The pods name a PodGang that is not there yet; those of the other one start."""
    owners, pods = pod_clique_set()
    there = [one for one in owners if (one["kind"], one["metadata"]["name"]) != ("PodGang", name)]
    gangs = in_cluster(*there, *pods["x-0"], *pods["x-0-workers-0"])
    assert {gang.key.name for gang in gangs.values() if gang.hold is None} == {*pods} - {name}
