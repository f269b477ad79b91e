"""Builders for hand-made gangs that stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from tests.relocations import fail
from tests.small import config, gang


def stood(name: str, nodes: Sequence[str], gpus: int = 8, **fields: Any) -> StandingGang:
    """A gang of one role with a member on each of `nodes`; fields of gang and standing alike."""
    own = {key: fields.pop(key) for key in list(fields) if key in StandingGang.__slots__}
    one = gang(name, len(nodes), gpus=gpus, **fields)
    role = one.roles[0]
    bound = tuple(zip(role.pods, nodes, strict=True))
    return StandingGang(replace(one, roles=(replace(role, pods=(), bound=bound),)), **own)


def outage(
    where: Fabric,
    *standing: StandingGang,
    dead: Sequence[str] = (),
    waiting: Sequence[Gang] = (),
    running: Sequence[RunningPod] = (),
    **spec: Any,
) -> Snapshot:
    """The snapshot of these gangs after the nodes `dead` have died."""
    world = Snapshot(where, tuple(running), tuple(waiting), config(**spec), 10_000.0, standing)
    return fail(world, set(dead))
