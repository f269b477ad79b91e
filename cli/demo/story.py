"""The story: who submits what, and when."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from fourleaf.cli.demo.cluster import LEAF_SIZE, LEAVES_PER_SPINE, DemoGang, Twin
from fourleaf.cli.demo.diary import Diary
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Waiting

TEAMS = {
    "vision": ("resnet", "detector", "segment"),
    "speech": ("whisper", "diarize"),
    "serving": ("chat", "embedder"),
    "ml": ("mixtral", "sft", "reward"),
}
SIZES = ((1, 2), (1, 4), (2, 4), (1, 8), (2, 8), (2, 8), (4, 8), (4, 8), (8, 8))
"""Pods and GPUs of the gangs that come and go."""

BUSY_SHARE = 0.36
"""The share of the nodes that these take, about."""
FAILURE_SHARE = 0.25
"""How long one lasts, as a share of the whole story."""
PIN_EVERY = 4
"""A notebook stands in the last of so many leaves, so that no four neighbours are free."""
STALLED_SECONDS = 15.0
"""Seconds after which the story goes on, whatever the scheduler does."""

BIG = DemoGang(GangKey("ml", "llama-pretrain"), 16, production=True)
PARTIAL = DemoGang(GangKey("speech", "conformer"), 4, late=1)
AVOIDING = DemoGang(GangKey("vision", "world-model"), 4, production=True)


@dataclass(frozen=True, slots=True)
class Script:
    """How large the fabric is, how long new gangs come, and how fast they come and go."""

    nodes: int
    seed: int
    seconds: float
    speed: float = 1.0


class Story:
    """Plays the teams. `why` tells what the scheduler has said of a gang that waits."""

    def __init__(
        self, script: Script, twin: Twin, diary: Diary, why: Callable[[GangKey], Waiting | None]
    ) -> None:
        self._script = script
        self._twin = twin
        self._diary = diary
        self._why = why
        self._chance = random.Random(script.seed)  # noqa: S311 - a story, not a secret
        self._pins: list[DemoGang] = []
        self._number = 0
        self._quiet = False

    async def run(self) -> None:
        """Play it once."""
        await self._notebooks()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._traffic())
            tasks.create_task(self._acts())
        await self._until(1.0)

    async def _notebooks(self) -> None:
        for i, (_, leaf) in enumerate(self._twin.leaves):
            if i % LEAVES_PER_SPINE % PIN_EVERY == PIN_EVERY - 1:
                key = GangKey("research", f"notebook-{len(self._pins)}")
                self._pins.append(DemoGang(key, 1, 1, leaf=leaf))
        for pin in self._pins:
            await self._twin.submit(pin)
        places = ", ".join(pin.leaf for pin in self._pins[:4])
        more = ", ..." if len(self._pins) > 4 else ""
        self._diary.note("submitted", f"{len(self._pins)} notebooks of 1 GPU on {places}{more}")

    async def _acts(self) -> None:
        await self._until(0.12)
        await self._submit(PARTIAL, ", of which one is late")
        await self._until(0.25)
        await self._submit(BIG, ", which asks for four adjacent leaves")
        await self._condition(lambda: self._why(BIG.key) is not None)
        await self._until(0.38)
        self._diary.note("submitted", f"the last pod of {PARTIAL.key}")
        await self._twin.complete(PARTIAL.key)
        await self._until(0.5)
        await self._make_room()
        await self._until(0.65)
        await self._cordon()
        await self._until(0.7)
        await self._submit(AVOIDING, ", which needs a leaf of four good nodes")
        await self._condition(lambda: self._twin.whole(AVOIDING.key))

    async def _make_room(self) -> None:
        """End the notebook that the scheduler names, and what else stands in the way around it.

        Nothing new comes meanwhile: who comes first is the scheduler's business, but a cycle
        that is under way does not know of the room yet.
        """
        self._quiet = True
        pin = self._named_pin()
        self._twin.end(pin.key)
        others = self._end_around(pin)
        also = f", and so do {len(others)} gangs around it" if others else ""
        self._diary.note("ended", f"{pin.key} on {pin.leaf} gives back its GPU{also}")
        until = self._diary.now + STALLED_SECONDS
        while not self._twin.whole(BIG.key) and self._diary.now < until:
            await asyncio.sleep(1.0)
            if not self._twin.standing(BIG.key):
                self._end_around(pin)
        self._quiet = False

    def _named_pin(self) -> DemoGang:
        """The notebook that keeps the big gang from its place, as far as the scheduler said."""
        waiting = self._why(BIG.key)
        misses = waiting.reason.near if waiting else ()
        holders = {holder for miss in misses for _, holder in miss.holders}
        named = [pin for pin in self._pins if f"{pin.key}-0" in holders or str(pin.key) in holders]
        return (named or self._pins)[0]

    def _end_around(self, pin: DemoGang) -> list[GangKey]:
        """End all gangs between this notebook and the next ones, and tell which."""
        here = [leaf for _, leaf in self._twin.leaves].index(pin.leaf)
        around = range(here - PIN_EVERY + 1, here + PIN_EVERY)
        others = []
        for key in self._twin.running():
            nodes = [pod["spec"].get("nodeName") for pod in self._twin.pods(key)]
            leaves = {self._twin.leaf_of(node) for node in nodes if node}
            if leaves.intersection(around) and self._twin.whole(key):
                self._twin.end(key)
                others.append(key)
        return others

    async def _cordon(self) -> None:
        taken = {pod["spec"]["nodeName"] for pod in self._twin.live()}
        names = [f"gpu-{i:03}" for i in range(len(self._twin.leaves) * LEAF_SIZE)]
        free = [name for name in names if name not in taken] or names
        node = self._chance.choice(free)
        await self._twin.cordon(node)
        self._diary.note("cordoned", f"{node} for repair; its leaf is no longer complete")

    async def _traffic(self) -> None:
        """Small gangs that come, run for a while, and end."""
        script = self._script
        lasts = FAILURE_SHARE * script.seconds / script.speed
        mean = sum(pods * gpus / 8 for pods, gpus in SIZES) / len(SIZES)
        pause = lasts * mean / (BUSY_SHARE * script.nodes)
        async with asyncio.TaskGroup() as tasks:
            while self._diary.now < 0.85 * script.seconds:
                if self._quiet:
                    await asyncio.sleep(0.1)
                    continue
                cast = self._drawn()
                await self._submit(cast)
                tasks.create_task(self._life(cast, lasts * self._chance.uniform(0.5, 1.5)))
                await asyncio.sleep(pause * self._chance.uniform(0.3, 1.7))

    async def _life(self, cast: DemoGang, seconds: float) -> None:
        """Let a gang run for `seconds` once it stands; in the end, what runs may go on."""
        while not self._twin.whole(cast.key):
            if self._over:
                return
            await asyncio.sleep(0.1)
        await asyncio.sleep(seconds)
        if not self._over and cast.key in self._twin.running():
            self._twin.end(cast.key)
            self._diary.note("ended", f"{cast.key}")

    def _drawn(self) -> DemoGang:
        team = self._chance.choice(list(TEAMS))
        self._number += 1
        name = f"{self._chance.choice(TEAMS[team])}-{self._number}"
        pods, gpus = self._chance.choice(SIZES)
        return DemoGang(GangKey(team, name), pods, gpus)

    async def _submit(self, cast: DemoGang, what: str = "") -> None:
        self._diary.note("submitted", f"{cast}{what}")
        await self._twin.submit(cast)

    @property
    def _over(self) -> bool:
        return self._diary.now >= self._script.seconds

    async def _until(self, share: float) -> None:
        """Wait for a moment of the story."""
        await asyncio.sleep(max(0.0, share * self._script.seconds - self._diary.now))

    async def _condition(self, holds: Callable[[], bool]) -> None:
        until = self._diary.now + STALLED_SECONDS
        while not holds() and self._diary.now < until:
            await asyncio.sleep(0.05)
