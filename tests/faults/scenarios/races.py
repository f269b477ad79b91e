"""Plans that are overtaken: by other gangs, by late news, by whoever deletes and creates pods."""

from __future__ import annotations

import time
from dataclasses import replace

from tests.faults.asked import Asked
from tests.faults.events import Late, Told, Withheld, any_event
from tests.faults.faults import Pass
from tests.faults.gangs import PREFIX, Gang
from tests.faults.scenario import Needs, Scenario
from tests.faults.scenarios.meddling import alone, create, moment, remove
from tests.faults.stage import Stage
from tests.history.check import Expectations

LATE = 2.0
"""Seconds by which events are held back."""

SILENCE = 60.0
"""Seconds for which a leader hears nothing of its own bindings."""

NODES = 16
"""Four leaves of four nodes in one spine."""


def exactly_full(stage: Stage) -> None:
    """As many gangs of one GPU as there are GPUs, and every event two seconds late."""
    for actor in stage.actors:
        actor.proxy.tell(any_event, Late(LATE))
    alone(stage)
    gpus = 8 * stage.ground.needs.nodes
    order = stage.chance.sample(range(gpus), gpus)
    gangs = [stage.submit(f"one-{i}", 1, 1) for i in order]
    stage.wait(
        lambda: sum(bool(pod["spec"].get("nodeName")) for pod in stage.pods()) == len(gangs),
        "every GPU is taken",
    )
    stage.expected = Expectations(gpus, len(gangs), gpus, requests_per_pod=6)


def own_events_withheld(stage: Stage) -> None:
    """More gangs than fit; from its first binding on the leader hears nothing about pods.

    Meanwhile one gang is deleted, which only the leader does not know.
    """
    leader = alone(stage)
    silence = Withheld()
    leader.proxy.tell(_of_bound_pod, silence)
    gangs = [stage.submit(f"gang-{i}", 4) for i in range(5)]
    stage.wait(lambda: sum(map(stage.bound, gangs)) == NODES, "the nodes are full")
    began = time.monotonic()
    first = stage.chance.choice([gang for gang in gangs if stage.bound(gang)])
    time.sleep(stage.chance.uniform(0.0, 5.0))
    remove(stage, first, range(first.pods))
    stage.gangs.remove(first)
    time.sleep(max(0.0, began + (5.0 if stage.brief else SILENCE) - time.monotonic()))
    silence.release()
    for gang in gangs:
        if gang is not first:
            stage.runs(gang)
    stage.expected = Expectations(bindings=20, commits=5, holding=16)


def two_halves(stage: Stage) -> None:
    """Two gangs that each need more than half, their pods created in turn: one after the other."""
    alone(stage)
    gangs = [
        Gang(stage.namespace, name, stage.chance.randint(NODES // 2 + 1, NODES))
        for name in ("left", "right")
    ]
    stage.gangs += gangs
    pods = [(gang, i) for gang in gangs for i in range(gang.pods)]
    for gang, i in stage.chance.sample(pods, len(pods)):
        create(stage, gang, [i])
    stage.wait(
        lambda: any(stage.bound(gang) == gang.pods for gang in gangs), "one of them is whole"
    )
    time.sleep(stage.chance.uniform(0.5, 2.0))
    first, second = sorted(gangs, key=stage.bound, reverse=True)
    found = (stage.bound(first), stage.bound(second))
    assert found == (first.pods, 0), f"{first.name}, {second.name}: {found} pods are bound"
    remove(stage, first, range(first.pods))
    stage.gangs.remove(first)
    stage.runs(second)
    stage.expected = Expectations(first.pods + second.pods, 2, second.pods)


def re_created(stage: Stage) -> None:
    """Members are deleted and created again under their names when a commit is about to take."""
    leader = alone(stage)
    size = stage.chance.randint(2, 8)
    gang = Gang(stage.namespace, "gang", size)
    stage.gangs.append(gang)
    members = stage.chance.sample(range(size), stage.chance.randint(1, size))

    def meddle(_: Asked) -> None:
        remove(stage, gang, members)
        create(stage, gang, members)

    k = stage.chance.randint(1, 2)
    match = moment(stage.chance, wide=size > 4)
    strike = leader.proxy.strike(match, Pass(), first=k, before=meddle)
    create(stage, gang, range(size))
    stage.wait(
        lambda: strike.done.is_set() or (k > 1 and stage.bound(gang) == size),
        "a write of the commit, or all of it",
    )
    stage.runs(gang)
    stage.expected = Expectations(size, 1, size)


def size_changed(stage: Stage) -> None:
    """A gang grows or shrinks, by its annotation and its pods, when a commit is about to take."""
    leader = alone(stage)
    old, new = stage.chance.choice([(8, 10), (4, 8), (2, 4), (8, 6), (4, 2), (6, 5)])
    before = Gang(stage.namespace, "gang", old)
    after = replace(before, pods=new)
    stage.gangs.append(after)

    def meddle(_: Asked) -> None:
        size = {"metadata": {"annotations": {f"{PREFIX}/gang-size": str(new)}}}
        for name in before.names[: min(old, new)]:
            stage.api.patch(f"/api/v1/namespaces/{stage.namespace}/pods/{name}", size)
        remove(stage, before, range(new, old))
        create(stage, after, range(old, new))

    match = moment(stage.chance, wide=old > 4)
    strike = leader.proxy.strike(match, Pass(), before=meddle)
    create(stage, before, range(old))
    assert strike.done.wait(60), "no write of the commit came"
    stage.runs(after)
    stage.expected = Expectations(new, 1, new)


def _of_bound_pod(one: Asked, told: Told) -> bool:
    """Whether an event tells of a pod that is bound."""
    return one.resource == "pods" and bool(told["object"].get("spec", {}).get("nodeName"))


SCENARIOS = (
    Scenario(
        "exactly-full",
        "200 gangs of one GPU on exactly 200 GPUs with events 2 s late: each GPU has one pod.",
        exactly_full,
        Needs(nodes=25),
    ),
    Scenario(
        "own-events-withheld",
        "A leader that hears of no binding for 60 s gives nothing away twice.",
        own_events_withheld,
    ),
    Scenario(
        "two-halves",
        "Of two gangs that each need more than half, created in turn, one is whole, one waits.",
        two_halves,
        quick=True,
    ),
    Scenario(
        "re-created",
        "Members deleted and created anew between plan and binding: the new ones are bound.",
        re_created,
    ),
    Scenario(
        "size-changed",
        "A gang whose size changes in mid-commit ends whole in its new size.",
        size_changed,
    ),
)
