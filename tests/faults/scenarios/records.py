"""Records without number: what dead leaders left behind, and pages as large as they can be."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.controlplane.api import Api
from tests.faults.actor import Actor
from tests.faults.asked import Asked, bindings
from tests.faults.faults import Pass
from tests.faults.gangs import Gang
from tests.faults.ground import LEASES
from tests.faults.scenario import Needs, Scenario
from tests.faults.scenarios.meddling import alone
from tests.faults.stage import Stage
from tests.history.check import Expectations

Body = dict[str, Any]
PREFIX = "alloc.gpu.scheduling/"
ORPHANS = 1000
"""Leases that nobody needs, a quarter of each kind."""

SWEEP = 120.0
"""Seconds in which they are gone."""

LONG = 240
"""Letters in the name of a gang whose entry takes much room on its page."""


def orphans(stage: Stage) -> None:
    """Leaders begin, and one dies in mid-commit, among 1000 Leases of earlier ones."""
    count = 100 if stage.brief else ORPHANS
    left = {body["metadata"]["name"]: body for body in _left_behind(stage.chance, count)}
    for body in left.values():
        stage.api.create(LEASES, body)
    foreign = f"gang-of-somebody-else-{stage.namespace}"
    stage.api.create(LEASES, {"metadata": {"name": foreign}, "spec": {"holderIdentity": "x"}})
    stage.lead()
    death = _first_dies_at_binding(stage, stage.chance.randint(1, 8))
    gang = stage.submit("gang", 8, 4)
    assert death.wait(SWEEP), "no binding came"
    stage.wait(lambda: not left.keys() & _names(stage.api), f"all {count} are swept", SWEEP)
    stage.runs(gang)
    assert foreign in _names(stage.api), "a Lease of somebody else was deleted"
    stage.expected = Expectations(8, 1, 8)


def _first_dies_at_binding(stage: Stage, k: int) -> threading.Event:
    """Kill the first replica that comes to its k-th binding, just before that; tell when."""
    lock, death = threading.Lock(), threading.Event()

    def die(actor: Actor) -> None:
        with lock:
            if not death.is_set():
                actor.process.kill()
                death.set()

    for actor in stage.actors:
        actor.proxy.strike(bindings, Pass(), first=k, before=partial(_ignoring, die, actor))
    return death


def _ignoring(act: Callable[[Actor], None], actor: Actor, _: Asked) -> None:
    act(actor)


def _left_behind(chance: random.Random, count: int) -> Iterator[Body]:
    """Gang leases in each phase whose pods are gone, and pages of leaves that are gone."""
    for i in range(count):
        pods = [_row(chance, f"dead-{i}-{j}") for j in range(chance.randint(1, 4))]
        epoch = chance.randint(1, 9)
        phase = ("Prepared", "Committed", "RollingBack", "")[i % 4]
        commit = f"{chance.getrandbits(48):012x}"
        content: Body
        if phase:
            content = {
                "commit": commit,
                "gang": f"gone/dead-{i}",
                "phase": phase,
                "members": pods,
                "pages": [f"page-gone-{i}", f"page-gone-{i + 1}"],
            }
            yield _lease(f"gang-dead-{i}-{commit}", "gang", epoch, content)
        else:
            leaf = f"gone-{i}"
            entry: Body = {"commit": commit, "gang": f"gone/dead-{i}", "members": pods}
            entry |= chance.choice(({}, {"phase": "RollingBack"}, {"lease": f"gang-none-{i}"}))
            content = {
                "leaf": leaf,
                "part": 0,
                "nodes": [row[3] for row in pods],
                "entries": [entry] * chance.randint(0, 1),
            }
            yield _lease(f"page-gone-{i}-{_hash(f'{leaf}#0')}", "page", epoch, content)


def _row(chance: random.Random, pod: str) -> list[str]:
    return [pod, str(uuid.UUID(int=chance.getrandbits(128))), "1", f"node-of-{pod}", "0-7"]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _lease(name: str, record: str, epoch: int, content: Body) -> Body:
    labels = {"app.kubernetes.io/name": "fourleaf", f"{PREFIX}record": record}
    annotations = {f"{PREFIX}content": json.dumps(content)}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    return {"metadata": metadata, "spec": {"holderIdentity": "dead", "leaseTransitions": epoch}}


def _names(api: Api) -> set[str]:
    return {one["metadata"]["name"] for one in api.get(LEASES)["items"]}


def full_pages(stage: Stage) -> None:
    """As many pods with long names as four nodes take: more than one page can hold."""
    alone(stage)
    count = 4 * 110
    gangs = [Gang(stage.namespace, _long_name(stage.chance, i), 1, 0) for i in range(count)]
    for gang in gangs:
        path = f"/api/v1/namespaces/{stage.namespace}/pods"
        stage.api.create(path, gang.body(0))
    stage.wait(lambda: _bound(stage) == count, f"all {count} pods run", 120)
    largest = max(len(json.dumps(one["metadata"])) for one in stage.leases())
    assert largest > 100_000, f"the largest page has {largest} bytes"
    stage.expected = Expectations(count, count, count)


def _long_name(chance: random.Random, i: int) -> str:
    return f"g{i}-{chance.getrandbits(4 * LONG):0{LONG}x}"[:LONG]


def _bound(stage: Stage) -> int:
    time.sleep(0.5)
    return sum(bool(pod["spec"].get("nodeName")) for pod in stage.pods())


SCENARIOS = (
    Scenario(
        "orphans",
        "1000 Leases of every kind that no gang needs are swept on proof, and none in use.",
        orphans,
    ),
    Scenario(
        "full-pages",
        "More pods with long names on a leaf than one record can hold: all run.",
        full_pages,
        Needs(nodes=4),
    ),
)
