"""Chance that repeats where a seed is given, in all tasks that are started meanwhile."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys

from fourleaf.k8s_bridge.runtime.randomness import chance, seeded


async def test_tasks_draw_from_the_seed_that_they_were_started_with() -> None:
    """Two tasks with one seed each draw their own numbers, in whatever order they run."""

    async def draw() -> list[int]:
        drawn = []
        for _ in range(3):
            await asyncio.sleep(0)
            drawn.append(chance().getrandbits(32))
        return drawn

    tasks = []
    for seed in (1, 2):
        with seeded(random.Random(seed)):  # noqa: S311 - has to repeat
            tasks.append(asyncio.create_task(draw()))
    found = await asyncio.gather(*tasks)
    expected = []
    for seed in (1, 2):
        source = random.Random(seed)  # noqa: S311 - has to repeat
        expected.append([source.getrandbits(32) for _ in range(3)])
    assert found == expected


def test_without_a_seed_chance_is_the_systems() -> None:
    """Names of commits must not repeat between processes: tried in one that no test has seeded."""
    program = (
        "from random import SystemRandom\n"
        "from fourleaf.k8s_bridge.runtime.randomness import chance\n"
        "assert isinstance(chance(), SystemRandom)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
