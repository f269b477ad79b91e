"""Replicas that crash or freeze, machines that sleep, clocks that jump, networks that part."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.simulation.faults.fault import Act, Family, Fate, Scene

if TYPE_CHECKING:
    from tests.simulation.world import World


class _Striking(Family):
    """A family that does something to the world at some moments."""

    def __init__(self, acts: Sequence[Act]) -> None:
        self._acts = acts

    def acts(self) -> Sequence[Act]:
        """At each of the moments."""
        return self._acts


def moments(chance: random.Random, scene: Scene, most: int) -> list[float]:
    """Some moments of the scene, in order."""
    return sorted(chance.uniform(scene.begins, scene.ends) for _ in range(chance.randint(1, most)))


def _victim(chance: random.Random, scene: Scene) -> str:
    """A replica's name; "" for whoever leads then, which is what matters most."""
    return chance.choice(("", "", *scene.replicas))


@dataclass(frozen=True, slots=True)
class _Crashed:
    victim: str
    seconds: float

    async def __call__(self, world: World) -> None:
        replica = world.replica(self.victim)
        world.story.struck("crash", f"{replica.identity} for {self.seconds} s")
        replica.crash()
        await world.clock.sleep(self.seconds)
        replica.start()


class Crash(_Striking):
    """A process dies, with what it has sent still under way, and is started again later."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        super().__init__(
            [
                Act(moment, _Crashed(_victim(chance, scene), chance.choice((0.1, 2.0, 12.0))))
                for moment in moments(chance, scene, 4)
            ]
        )


@dataclass(frozen=True, slots=True)
class _Stopped:
    victim: str
    seconds: float
    suspended: bool

    async def __call__(self, world: World) -> None:
        replica = world.replica(self.victim)
        name = "machine suspended" if self.suspended else "pause"
        world.story.struck(name, f"{replica.identity} for {self.seconds} s")
        replica.machine.pause(self.suspended)
        await world.clock.sleep(self.seconds)
        replica.machine.resume()


class Pause(_Striking):
    """A process is stopped, for longer than its lease holds or shorter, and goes on."""

    suspended = False

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        super().__init__(
            [
                Act(
                    moment,
                    _Stopped(
                        _victim(chance, scene),
                        chance.choice((0.3, 3.0, 8.0, 15.0, 30.0)),
                        self.suspended,
                    ),
                )
                for moment in moments(chance, scene, 4)
            ]
        )


class Suspend(Pause):
    """The machine sleeps, and its monotonic clock with it: its leader still thinks it leads."""

    suspended = True


@dataclass(frozen=True, slots=True)
class _Jumped:
    victim: str
    seconds: float

    async def __call__(self, world: World) -> None:
        replica = world.replica(self.victim)
        world.story.struck("clock jumped", f"{replica.identity} by {self.seconds} s")
        replica.machine.jump += self.seconds


class Jump(_Striking):
    """The wall clock of a machine jumps, by up to an hour and either way."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        steps = (-3600.0, -30.0, -1.0, 1.0, 30.0, 3600.0)
        super().__init__(
            [
                Act(moment, _Jumped(_victim(chance, scene), chance.choice(steps)))
                for moment in moments(chance, scene, 4)
            ]
        )


class CutOff(Family):
    """One replica reaches the API no more, while the others do; or none does."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._chance = chance
        self._spells = [
            (moment, moment + chance.choice((2.0, 7.0, 15.0)), chance.choice(("", *scene.replicas)))
            for moment in moments(chance, scene, 3)
        ]

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Lose it, or only the answer where that was still under way."""
        for begins, ends, victim in self._spells:
            if begins <= now < ends and identity.startswith(victim):
                done = now - begins < 0.2
                error = Ambiguous("no route to host")
                return Fate("cut off", arrives=done, answer=error, back=0.3)
        return None
