"""Gangs that live: namespaces that go, members that end, are replaced, come and go."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane.api import ApiError
from tests.controlplane.flags import CONTROLLERS
from tests.controlplane.stages import COMPLETE_AFTER
from tests.controlplane.waiting import CRDS
from tests.e2e.checker import holds
from tests.faults.asked import Asked
from tests.faults.faults import Pass
from tests.faults.gangs import Gang
from tests.faults.scenario import Needs, Scenario
from tests.faults.scenarios.meddling import alone, create, moment, remove
from tests.faults.stage import Stage
from tests.history.check import Expectations

POD_GROUPS = Path(__file__).parents[2] / "e2e" / "crds.yaml"


def namespace_deleted(stage: Stage) -> None:
    """A gang's namespace is deleted when its commit is about to take; another gang goes on."""
    leader = alone(stage)
    size = stage.chance.randint(2, 8)
    doomed = Gang(stage.api.new_namespace(), "doomed", size)
    path = f"/api/v1/namespaces/{doomed.namespace}"

    def meddle(_: Asked) -> None:
        stage.api.delete(path)
        if stage.chance.random() < 0.5:
            remove(stage, doomed, stage.chance.sample(range(size), stage.chance.randint(1, size)))

    match = moment(stage.chance, wide=size > 4)
    strike = leader.proxy.strike(match, Pass(), before=meddle)
    create(stage, doomed, range(size))
    assert strike.done.wait(60), "no write of the commit came"
    stage.runs(stage.submit("other", 8))
    stage.wait(lambda: _is_gone(stage, path), "the namespace is gone")
    stage.expected = Expectations(bindings=8, commits=2, holding=8)


def completed(stage: Stage) -> None:
    """Members end at different times; what they held is given to the next gang."""
    alone(stage)
    size = stage.chance.choice((4, 8))
    gang = Gang(stage.namespace, "gang", size)
    for i in range(size):
        after = f"{stage.chance.randint(0, 8000)}ms"
        create(stage, gang, [i], **{COMPLETE_AFTER: after})
    # All gangs wait for the same nodes, and this one has to be first.
    stage.wait(lambda: _all_placed(stage, gang), "the gang has its nodes")
    heirs = [Gang(stage.namespace, f"heir-{i}", 4) for i in range(4)]
    for heir in heirs:
        create(stage, heir, range(4))
    for heir in heirs:
        stage.runs(heir)
    stage.gangs += heirs
    ended = [pod for pod in stage.pods(gang) if pod["status"]["phase"] == "Succeeded"]
    assert len(ended) == size, f"{len(ended)} of {size} members have ended"
    stage.expected = Expectations(size + 16, 5, 16)


def replaced(stage: Stage) -> None:
    """A member dies, its place is taken, and the pod in its stead comes late."""
    alone(stage)
    gang = stage.submit("gang", stage.chance.choice((4, 8)))
    stage.runs(gang)
    late = stage.chance.sample(range(gang.pods), stage.chance.randint(1, gang.pods - 1))
    remove(stage, gang, late)
    fillers = [stage.submit(f"filler-{i}", 1) for i in range(16 - gang.pods + len(late))]
    for filler in fillers:
        stage.runs(filler)
    create(stage, gang, late)
    time.sleep(stage.chance.uniform(1.0, 3.0))
    waiting = gang.pods - stage.bound(gang)
    assert waiting == len(late), f"{waiting} replacements wait, and there is room for none"
    for filler in fillers:
        remove(stage, filler, [0])
        stage.gangs.remove(filler)
    stage.runs(gang)
    stage.expected = Expectations(16 + len(late), 1 + len(fillers), gang.pods)


def elastic(stage: Stage) -> None:
    """A pod group that needs four members and has up to twelve, which come and go."""
    _serve_pod_groups(stage)
    alone(stage)
    gang = Gang(stage.namespace, "gang", 12, gpus=4)
    group = {"kind": "PodGroup", "metadata": {"name": gang.name}, "spec": {"minMember": 4}}
    groups = f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{stage.namespace}/podgroups"
    stage.api.create(groups, {"apiVersion": "scheduling.x-k8s.io/v1alpha1", **group})
    _join(stage, gang, range(3))
    time.sleep(1.0)
    assert not stage.bound(gang), "three of at least four members are bound"
    there = set(range(4))
    _join(stage, gang, [3])
    stage.wait(lambda: _all_run(stage, gang, there), "the first four run")
    for _ in range(6):
        absent = sorted(set(range(12)) - there)
        come = stage.chance.sample(absent, stage.chance.randint(1, len(absent)) if absent else 0)
        go = stage.chance.sample(sorted(there), stage.chance.randint(0, len(there) - 4))
        _join(stage, gang, come)
        remove(stage, gang, go)
        there = (there | set(come)) - set(go)
        time.sleep(stage.chance.uniform(0.0, 1.0))
    stage.wait(lambda: _all_run(stage, gang, there), f"all {len(there)} members run")
    sizes = {f"{stage.namespace}/{gang.name}": 4}
    stage.expected = Expectations(len(there), 2, len(there), sizes=sizes)


def _serve_pod_groups(stage: Stage) -> None:
    """Let the apiserver know the pod groups of coscheduling, if it does not yet."""
    for body in yaml.safe_load_all(POD_GROUPS.read_text()):
        with suppress(ApiError):
            stage.api.create(CRDS, body)
    stage.wait(
        lambda: stage.api.get("/apis/scheduling.x-k8s.io/v1alpha1/podgroups"),
        "pod groups are served",
    )


def _join(stage: Stage, gang: Gang, numbers: Iterable[int]) -> None:
    """Create members of a pod group, which name it by a label and say nothing of its size."""
    for number in numbers:
        body = gang.body(number)
        del body["metadata"]["annotations"]
        body["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": gang.name}
        stage.api.create(f"/api/v1/namespaces/{gang.namespace}/pods", body)


def _all_placed(stage: Stage, gang: Gang) -> bool:
    """Whether every member has got a node, whether it runs there still or not."""
    return all(pod["spec"].get("nodeName") for pod in stage.pods(gang))


def _all_run(stage: Stage, gang: Gang, numbers: set[int]) -> bool:
    """Whether exactly these members of the gang are there, and all of them hold a node."""
    found = {pod["metadata"]["name"] for pod in stage.pods(gang) if holds(pod)}
    return found == {gang.names[i] for i in numbers}


def _is_gone(stage: Stage, path: str) -> bool:
    try:
        found: dict[str, Any] = stage.api.get(path)
    except ApiError as error:
        return error.status == 404
    return not found


SCENARIOS = (
    Scenario(
        "namespace-deleted",
        "A namespace deleted in mid-commit leaves nothing behind, and other gangs go on.",
        namespace_deleted,
        Needs(controllers=CONTROLLERS),
    ),
    Scenario(
        "completed",
        "Members that end at different times give what they held to others.",
        completed,
    ),
    Scenario(
        "replaced",
        "A replacement that comes late waits for room, and then runs with its gang.",
        replaced,
    ),
    Scenario(
        "elastic",
        "A gang of four to twelve members whose members come and go: all that are there run.",
        elastic,
    ),
)
