"""Patching: the policy places lost members anew, and all others stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.plan_check import found
from fourleaf.simulator.recovery.protocol import Rescue


class Patch:
    """Gang after gang, in the order and to the taste of `decide`; proves nothing, moves none."""

    def __init__(self, decide: Callable[[Snapshot], Plan]) -> None:
        self._decide = decide

    def rescue(self, snapshot: Snapshot) -> Rescue:
        """Who finds places for its lost members beside those that live."""
        hit = tuple(one.gang for one in snapshot.standing if one.hit)
        asked = replace(snapshot, gangs=hit, standing=())
        plan = self._decide(asked)
        changes = {one.gang: dict(one.pods) for one in plan.placements}
        return Rescue(changes, breaches=found(asked, plan, scored=False))
