"""Hands that meddle with a plan just before it takes effect."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from contextlib import suppress

from tests.controlplane.api import ApiError
from tests.faults.actor import Actor
from tests.faults.asked import Asked, Match, bindings, commits_to_page, decisions, gang_leases
from tests.faults.gangs import Gang
from tests.faults.stage import Stage

CONTENT = "alloc.gpu.scheduling/content"


def moment(chance: random.Random, wide: bool) -> Match:
    """One of the writes of a commit, at random; those of a gang lease where it is a wide one."""
    narrow = [commits_to_page, bindings]
    return chance.choice([*narrow, gang_leases, decisions] if wide else narrow)


def planned_nodes(one: Asked) -> list[str]:
    """The nodes that a write of a commit gives away."""
    if bindings(one):
        return [one.content["target"]["name"]]
    record = json.loads(one.content["metadata"]["annotations"][CONTENT])
    rows = [
        *record.get("members", ()),
        *(r for e in record.get("entries", ()) for r in e["members"]),
    ]
    return sorted({row[3] for row in rows})


def alone(stage: Stage) -> Actor:
    """Start one replica, which leads: where nothing happens to it, a standby would not matter."""
    actor = stage.chance.choice(stage.actors)
    actor.start(*stage.ground.needs.arguments)
    stage.wait(lambda: actor.leads, f"{actor.role} leads")
    return actor


def create(stage: Stage, gang: Gang, numbers: Iterable[int], **annotations: str) -> None:
    """Create some pods of a gang; those that are there stay."""
    for number in numbers:
        with suppress(ApiError):
            path = f"/api/v1/namespaces/{gang.namespace}/pods"
            stage.api.create(path, gang.body(number, **annotations))


def remove(stage: Stage, gang: Gang, numbers: Iterable[int]) -> None:
    """Delete some pods of a gang at once; those that are not there stay away."""
    for number in numbers:
        with suppress(ApiError):
            path = f"/api/v1/namespaces/{gang.namespace}/pods/{gang.names[number]}"
            stage.api.delete(f"{path}?gracePeriodSeconds=0")


def replenish(stage: Stage, gang: Gang, timeout: float = 60.0) -> None:
    """Wait until the whole gang runs, and create what is missing of it, as its owner would."""

    def ask() -> bool:
        create(stage, gang, range(gang.pods))
        return stage.bound(gang) == gang.pods

    stage.wait(ask, f"all of {gang.name} is bound", timeout)
