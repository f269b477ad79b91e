"""Which families strike in a seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.simulation.chance import stream
from tests.simulation.faults.answers import (
    AdmissionPolicy,
    Broken,
    Busy,
    RefusedBinding,
    SpuriousConflict,
)
from tests.simulation.faults.budgets import Budgets
from tests.simulation.faults.fault import Fault, Scene
from tests.simulation.faults.late_kinds import LateKinds
from tests.simulation.faults.lost import LostAfter, LostBefore
from tests.simulation.faults.machines import Crash, CutOff, Jump, Pause, Suspend
from tests.simulation.faults.rivals import SecondLeader
from tests.simulation.faults.server import Compaction
from tests.simulation.faults.slow import Slow
from tests.simulation.faults.slow_ends import SlowEnds
from tests.simulation.faults.stale import StaleList, StaleStart
from tests.simulation.faults.twice import Twice
from tests.simulation.faults.versions import Versions
from tests.simulation.faults.watches import Cut, Expired, Reordered, Repeated, Stalled

FAMILIES: dict[str, Callable[[Random, Scene], Fault]] = {
    family.__name__: family
    for family in (
        LostBefore,
        LostAfter,
        Slow,
        Twice,
        SpuriousConflict,
        Busy,
        Broken,
        RefusedBinding,
        AdmissionPolicy,
        Budgets,
        SlowEnds,
        Cut,
        Stalled,
        Reordered,
        Repeated,
        Expired,
        StaleList,
        StaleStart,
        Crash,
        Pause,
        Suspend,
        Jump,
        CutOff,
        SecondLeader,
        Compaction,
    )
}
"""Every family by its name, but those that come on top: versions, and kinds that come late."""

UPGRADES = 0.4
"""Share of the seeds in which replicas and formats change."""


def drawn(seed: int, scene: Scene, fewest: int, most: int, late: bool) -> dict[str, Fault]:
    """The faults of a seed: some of the families, each from a stream of its own.

    Where they are to be `late`, kinds of owners come during the trouble.
    """
    chance = stream(seed, "families")
    names = chance.sample(sorted(FAMILIES), chance.randint(fewest, most))
    if StaleList.__name__ in names and Expired.__name__ not in names:
        # without it hardly anything is listed again
        names.append(Expired.__name__)
    found = {name: FAMILIES[name](stream(seed, "fault", name), scene) for name in names}
    upgrade = stream(seed, "versions")
    if upgrade.random() < UPGRADES:
        found[Versions.__name__] = Versions(upgrade, scene)
    if late:
        found[LateKinds.__name__] = LateKinds(stream(seed, "late kinds"), scene)
    return found
