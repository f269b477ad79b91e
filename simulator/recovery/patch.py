"""Greedy patching: lost members are placed anew where that is legal, and all others stay."""

from __future__ import annotations

from dataclasses import replace

from model.snapshot import Snapshot
from simulator.recovery.protocol import Rescue
from solver.greedy import greedy_plan


class Patch:
    """Gang after gang, as `solver.greedy` orders them; proves nothing, and moves nobody."""

    def rescue(self, snapshot: Snapshot) -> Rescue:
        """Who finds legal places for its lost members beside those that live."""
        hit = tuple(one.gang for one in snapshot.standing if one.hit)
        plan = greedy_plan(replace(snapshot, gangs=hit, standing=()))
        return Rescue({one.gang: dict(one.pods) for one in plan.placements})

    def close(self) -> None:
        """Holds nothing."""
