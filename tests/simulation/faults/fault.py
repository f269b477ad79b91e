"""What a family of faults is, and what it may do to requests, watches and machines."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest

if TYPE_CHECKING:
    from tests.simulation.world import World


@dataclass(frozen=True, slots=True)
class Scene:
    """When faults may happen, in seconds, and to whom."""

    begins: float
    ends: float
    replicas: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one request. Seconds.

    It arrives `there` later, if it `arrives`, and its answer takes `back`. With `answer`,
    that is what the sender gets, whatever the server said. With `again`, it arrives once more,
    so long after the first; with `second`, the sender gets the answer to that one.
    """

    fault: str
    there: float = 0.0
    arrives: bool = True
    back: float = 0.0
    answer: ClusterError | None = None
    again: float | None = None
    second: bool = False


@dataclass(frozen=True, slots=True)
class Hitch:
    """What becomes of a watch at one of its events.

    It is `silent` for so many seconds, then `repeats` an older event, then either ends with
    `error` (or cleanly, with `ends`), or goes on with the event.
    """

    fault: str
    silent: float = 0.0
    repeats: bool = False
    error: ClusterError | None = None
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """Something that is done to the world at one moment."""

    moment: float
    do: Callable[[World], Awaitable[None]]


class Fault(Protocol):
    """One family of faults, as drawn for one seed."""

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """What becomes of a request; None for nothing in particular."""
        ...

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """What becomes of a watch of `kind` at its next event; None for nothing."""
        ...

    def on_list(self, identity: str, kind: Kind, now: float) -> float:
        """How many seconds old a list may be that need not be new."""
        ...

    def acts(self) -> Sequence[Act]:
        """What is done to the world by itself."""
        ...


class Family:
    """A family that does nothing; each one overrides what it is about."""

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Nothing."""
        return None

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """Nothing."""
        return None

    def on_list(self, identity: str, kind: Kind, now: float) -> float:
        """Nothing."""
        return 0.0

    def acts(self) -> Sequence[Act]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which a share of everything is struck, at all replicas or at one."""

    begins: float
    ends: float
    share: float
    replica: str = ""


class Spells:
    """When a family strikes, and how often, as its chance decides."""

    def __init__(self, chance: random.Random, scene: Scene, most: float) -> None:
        self.chance = chance
        self._spells = [_spell(chance, scene, most) for _ in range(chance.randint(1, 3))]

    def strikes(self, identity: str, now: float) -> bool:
        """Whether it strikes whoever this is, now."""
        for spell in self._spells:
            if spell.begins <= now < spell.ends and identity.startswith(spell.replica):
                return self.chance.random() < spell.share
        return False

    def covers(self, now: float) -> bool:
        """Whether one of the spells is on now, wherever."""
        return any(spell.begins <= now < spell.ends for spell in self._spells)


def _spell(chance: random.Random, scene: Scene, most: float) -> Spell:
    begins = chance.uniform(scene.begins, scene.ends - 1)
    ends = min(scene.ends, begins + chance.uniform(2, 25))
    replica = chance.choice(("", *scene.replicas))
    return Spell(begins, ends, chance.uniform(most / 8, most), replica)
