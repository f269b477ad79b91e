"""Where a pod may go is what kube-scheduler's own filters say, or is refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.readers import Source, read
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import fits
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.batch.solve import solve
from tests.filters.clusters import ClusterMaker
from tests.filters.kube_filters import Body, Case, judged

CLUSTERS = 2000
SOME = 700
"""Of these, clusters for which `make test` makes plans, each in both ways."""
PREDICATES = Path(__file__).parents[2] / "docs" / "reference" / "predicates.md"
FIELD = re.compile(r"Pod ml/p: spec\.\S+ ")
"""How a reason begins that refuses the pod: with a field of it."""
REFUSED = {
    "keeps all members of one gang on one ": (
        "Required pod affinity of several members to each other, none of which runs"
    ),
}
"""What the reason says of each pod that is refused here, and which row of the page says so too."""
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


def claims_in(pod: Body) -> set[str]:
    """The claims that a pod uses."""
    return {one["persistentVolumeClaim"]["claimName"] for one in pod["spec"].get("volumes", ())}


def shares_a_volume(case: Case, node: str) -> bool:
    """Whether the node limits volumes, and one of the pod's is there: of a pod, or attached."""
    used, limited = set(), False
    for body in case.objects:
        spec, name = body.get("spec", {}), body["metadata"]["name"]
        match body["kind"]:
            case "Pod" if spec.get("nodeName") == node and body["metadata"]["namespace"] == "ml":
                used |= claims_in(body)
            case "VolumeAttachment" if spec["nodeName"] == node:
                used.add(spec["source"]["persistentVolumeName"].removeprefix("pv-"))
            case "CSINode" if name == node:
                limited = any("count" in one["allocatable"] for one in spec["drivers"])
    return limited and not used.isdisjoint(claims_in(case.pod))


def row_of(detail: str) -> str:
    """The row of the page of predicates that says what this reason says, "" where none does."""
    titles = [title for said, title in REFUSED.items() if said in detail]
    starts = tuple(f"| {title} | refused by name |" for title in titles)
    lines = PREDICATES.read_text("utf-8").splitlines() if starts else ()
    return next((line for line in lines if line.startswith(starts)), "")


@pytest.mark.parametrize("part", range(4))
def test_a_pod_may_go_where_the_filters_let_it(part: int) -> None:
    """Each node of each cluster; a pod that is refused by name may go anywhere for all we know.

    It is refused for a field of its own, which the reason names, and the page has a row of that.
    What else holds a pod back leaves it no node in the eyes of the filters either. A volume that
    is on a limited node already counts there once more for us: it may take less, never more.
    """
    seeds = range(part * CLUSTERS // 4, (part + 1) * CLUSTERS // 4)
    cases = [ClusterMaker(seed).case() for seed in seeds]
    refused = 0
    answers = judged(cases)
    for seed, case, theirs in zip(seeds, cases, answers, strict=True):
        mine, hold, detail = ours(case)
        if hold is ReasonKind.UNSUPPORTED:
            refused += 1
            assert FIELD.match(detail), f"seed {seed}: {detail}"
            assert row_of(detail), f"seed {seed}: no row says so: {detail}"
            continue
        for node, why in theirs.items():
            if why == "" and not mine[node] and shares_a_volume(case, node):
                continue
            assert mine[node] == (why == ""), f"seed {seed}, {node}: {detail or mine[node]}; {why}"
    assert 0 < refused < len(cases) / 50
    for filtered in ("exceed max volume count", "not have enough free storage"):
        drawn = sum(filtered in why for theirs in answers for why in theirs.values())
        assert drawn > 10, f"{filtered}: {drawn}"


def _goes_ahead(pod: Pod, running: Sequence[Pod]) -> bool:
    """Whether those bound before it may take from a pod where it may go.

    They do where it spreads out, or is the first of the pods that it wants to be near.
    """
    near = pod.wants.near
    is_first = not any(
        all(term.picks(other.namespace, other.labels) for term in near) for other in running
    )
    return bool(pod.wants.spread or (near and is_first))


Planner = Callable[[Snapshot], Plan | None]
PLANNERS: tuple[Planner, ...] = (greedy_plan, solve)
"""The fallback where the solver gives nothing, and the solver."""


def placements_of(planner: Planner, snapshot: Snapshot) -> tuple[Placement, ...]:
    """What a plan places; these clusters are so small that there is one in time."""
    plan = planner(snapshot)
    assert plan is not None
    return plan.placements


def bindings(objects: list[Body], planner: Planner) -> Iterator[tuple[Case, str]]:
    """The pods that a plan places, one after the other, each beside those bound before it.

    First those that go ahead of others, by age: the plan is as if the others had come later.
    """
    found = read([Source("cluster", objects=objects)], strict=False, whole=True, config=COUNTED)
    ages = {gang.key: gang.created for gang in found.snapshot.gangs}
    pods = {pod.name: pod for some in found.members.gangs.values() for pod in some}
    running = [pod for pod in pods.values() if pod.running]
    placed = [
        (not _goes_ahead(pods[pod], running), ages[placement.gang], str(placement.gang), pod, node)
        for placement in placements_of(planner, found.snapshot)
        for pod, node in placement.pods
    ]
    there = {body["metadata"]["uid"]: body for body in objects}
    for _, _, _, pod, node in sorted(placed):
        body = there.pop(f"pod-{pod}")
        yield Case(tuple(there.values()), body), node
        bound = {"spec": body["spec"] | {"nodeName": node}, "status": {"phase": "Running"}}
        there[f"pod-{pod}"] = body | bound


@pytest.mark.parametrize(
    "seeds",
    [range(SOME), pytest.param(range(SOME, CLUSTERS), marks=pytest.mark.deep)],
    ids=["some", "others"],
)
@pytest.mark.parametrize("planner", PLANNERS, ids=["greedy", "solver"])
def test_the_filters_accept_every_binding_of_a_plan(planner: Planner, seeds: range) -> None:
    """Plans of several gangs at once, bound one by one."""
    steps = [
        (seed, case, node)
        for seed in seeds
        for case, node in bindings(ClusterMaker(seed).crowd(), planner)
    ]
    assert len(steps) > len(seeds) * 3 // 4
    answers = judged([case for _, case, _ in steps])
    for (seed, case, node), theirs in zip(steps, answers, strict=True):
        assert theirs[node] == "", f"seed {seed}: {case.pod['metadata']['name']} on {node}"
