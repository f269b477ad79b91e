"""Nodes that change under a plan, and strangers on them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.controlplane.fleet import GPU
from tests.faults.asked import Asked
from tests.faults.faults import Pass
from tests.faults.gangs import Gang
from tests.faults.scenario import Needs, Scenario
from tests.faults.scenarios.meddling import alone, create, moment, planned_nodes, replenish
from tests.faults.stage import Stage
from tests.history.check import Expectations

NOTICE = 2.0
"""Seconds after which everybody knows of a stranger's pod."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to a node, and how it is undone."""

    do: Callable[[Stage, dict[str, Any]], None]
    undo: Callable[[Stage, dict[str, Any]], None]


def node_changed(stage: Stage) -> None:
    """A planned node is cordoned, deleted, created anew or shrunk; later all is as it was.

    A gang that is hit after its commit may be rolled back, which evicts members that run
    already. Whoever owns them creates them again.
    """
    leader = alone(stage)
    size = stage.chance.randint(2, 8)
    gang = Gang(stage.namespace, "gang", size)
    change = stage.chance.choice(CHANGES)
    hit: list[dict[str, Any]] = []

    def meddle(one: Asked) -> None:
        nodes = planned_nodes(one)
        count = stage.chance.randint(1, min(2, len(nodes)))
        for name in stage.chance.sample(nodes, count):
            hit.append(stage.api.get(f"/api/v1/nodes/{name}"))
            change.do(stage, hit[-1])

    match = moment(stage.chance, wide=size > 4)
    strike = leader.proxy.strike(match, Pass(), before=meddle)
    create(stage, gang, range(size))
    assert strike.done.wait(60), "no write of the commit came"
    time.sleep(stage.chance.uniform(0.0, 3.0))
    for node in hit:
        change.undo(stage, node)
    replenish(stage, gang)
    stage.gangs.append(gang)
    stage.expected = Expectations(size, 1, size)


def strangers(stage: Stage) -> None:
    """Somebody binds pods of his own to planned nodes; the next gang goes around them."""
    leader = alone(stage)
    size = stage.chance.randint(2, 6)
    taken: set[str] = set()

    def meddle(one: Asked) -> None:
        nodes = planned_nodes(one)
        for name in stage.chance.sample(nodes, stage.chance.randint(1, min(3, len(nodes)))):
            _occupy(stage, name)
            taken.add(name)

    match = moment(stage.chance, wide=size > 4)
    strike = leader.proxy.strike(match, Pass(), before=meddle)
    gang = stage.submit("gang", size)
    assert strike.done.wait(60), "no write of the commit came"
    stage.runs(gang)
    time.sleep(NOTICE)
    second = stage.submit("second", 4)
    stage.runs(second)
    stands = {pod["spec"]["nodeName"] for pod in stage.pods(second)}
    assert not stands & taken, f"{stands & taken} were taken by others, and given away"
    stage.expected = Expectations(size + 4, 2, size + 4, notice=NOTICE)


def _occupy(stage: Stage, node: str) -> None:
    """Bind a pod of another scheduler with all GPUs of a node to it."""
    name = f"stranger-{node}"
    body = Gang(stage.namespace, name, 1).body(0)
    body["spec"]["schedulerName"] = "somebody-else"
    del body["metadata"]["annotations"]
    pods = f"/api/v1/namespaces/{stage.namespace}/pods"
    stage.api.create(pods, body)
    stage.api.bind(f"{pods}/{name}-0", node)


def _path(node: dict[str, Any]) -> str:
    return f"/api/v1/nodes/{node['metadata']['name']}"


def _cordon(stage: Stage, node: dict[str, Any]) -> None:
    stage.api.patch(_path(node), {"spec": {"unschedulable": True}})


def _uncordon(stage: Stage, node: dict[str, Any]) -> None:
    stage.api.patch(_path(node), {"spec": {"unschedulable": None}})


def _delete(stage: Stage, node: dict[str, Any]) -> None:
    stage.api.delete(_path(node))


def _restore(stage: Stage, node: dict[str, Any]) -> None:
    stage.ground.restore_fleet()


def _re_create(stage: Stage, node: dict[str, Any]) -> None:
    _delete(stage, node)
    _restore(stage, node)


def _nothing(stage: Stage, node: dict[str, Any]) -> None:
    """What was done needs no undoing."""


def _shrink(stage: Stage, node: dict[str, Any]) -> None:
    gpus = str(stage.chance.randint(0, 7))
    _offer(stage, node, gpus)


def _grow(stage: Stage, node: dict[str, Any]) -> None:
    _offer(stage, node, "8")


def _offer(stage: Stage, node: dict[str, Any], gpus: str) -> None:
    room = {"allocatable": {GPU: gpus}, "capacity": {GPU: gpus}}
    stage.api.patch(f"{_path(node)}/status", {"status": room})


CHANGES = (
    Change(_cordon, _uncordon),
    Change(_delete, _restore),
    Change(_re_create, _nothing),
    Change(_shrink, _grow),
)

SCENARIOS = (
    Scenario(
        "node-changed",
        "A node cordoned, deleted, created anew or shrunk under a plan: the gang runs in the end.",
        node_changed,
    ),
    Scenario(
        "strangers",
        "Pods of others bound to planned nodes: who comes next is planned around them.",
        strangers,
        Needs(nodes=16),
    ),
)
