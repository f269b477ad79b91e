"""Where a pod may go is what kube-scheduler's own filters say, or is refused by name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.readers import Source, read
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import fits
from fourleaf.solver.batch.greedy import greedy_plan
from tests.filters.clusters import ClusterMaker
from tests.filters.kube_filters import Body, Case, judged

CLUSTERS = 2000
COUNTED = SchedulerConfig.model_validate({"spec": {"devices": {"mode": "count"}}})
"""GPUs are counted, as by kube-scheduler: which of them pods hold is not known here."""


def ours(case: Case) -> tuple[dict[str, bool], ReasonKind | None, str]:
    """Node -> whether the pod may go there now; what holds it back, with the text."""
    source = Source("cluster", objects=list(case.objects))
    found = read([source], strict=False, whole=True, expand=False, config=COUNTED)
    snapshot = found.snapshot
    (gang,) = snapshot.gangs
    if gang.hold is not None:
        return dict.fromkeys(snapshot.fabric.nodes, False), gang.hold.kind, gang.hold.detail
    (role,) = gang.roles
    verdicts = {
        name: node.schedulable
        and role.constraint.selects(node)
        and role.constraint.tolerates(node)
        and fits(snapshot.free[name], role.request) > 0
        for name, node in snapshot.fabric.nodes.items()
    }
    return verdicts, None, ""


@pytest.mark.parametrize("part", range(4))
def test_a_pod_may_go_where_the_filters_let_it(part: int) -> None:
    """Each node of each cluster; a pod that is refused by name may go anywhere for all we know.

    What else holds a pod back leaves it no node in the eyes of the filters either.
    """
    seeds = range(part * CLUSTERS // 4, (part + 1) * CLUSTERS // 4)
    cases = [ClusterMaker(seed).case() for seed in seeds]
    refused = 0
    for seed, case, theirs in zip(seeds, cases, judged(cases), strict=True):
        mine, hold, detail = ours(case)
        if hold is ReasonKind.UNSUPPORTED:
            refused += 1
            continue
        for node, why in theirs.items():
            assert mine[node] == (why == ""), f"seed {seed}, {node}: {detail or mine[node]}; {why}"
    assert refused < len(cases) / 4


def bindings(objects: list[Body]) -> Iterator[tuple[Case, str]]:
    """The pods that a plan places, one after the other, each beside those bound before it.

    First those that mind where others are: the others are bound as if they had come later.
    """
    found = read([Source("cluster", objects=objects)], strict=False, whole=True, config=COUNTED)
    ages = {gang.key: gang.created for gang in found.snapshot.gangs}
    minds = {
        name: bool({"affinity", "topologySpreadConstraints"} & body["spec"].keys())
        for (_, name), body in found.pods.items()
    }
    placed = [
        (not minds[pod], ages[placement.gang], str(placement.gang), pod, node)
        for placement in greedy_plan(found.snapshot).placements
        for pod, node in placement.pods
    ]
    there = {body["metadata"]["uid"]: body for body in objects}
    for _, _, _, pod, node in sorted(placed):
        body = there.pop(f"pod-{pod}")
        yield Case(tuple(there.values()), body), node
        bound = {"spec": body["spec"] | {"nodeName": node}, "status": {"phase": "Running"}}
        there[f"pod-{pod}"] = body | bound


def test_the_filters_accept_every_binding_of_a_plan() -> None:
    """Plans of several gangs at once, bound one by one."""
    steps = [
        (seed, case, node)
        for seed in range(CLUSTERS // 4)
        for case, node in bindings(ClusterMaker(seed).crowd())
    ]
    assert len(steps) > CLUSTERS // 4
    answers = judged([case for _, case, _ in steps])
    for (seed, case, node), theirs in zip(steps, answers, strict=True):
        assert theirs[node] == "", f"seed {seed}: {case.pod['metadata']['name']} on {node}"
