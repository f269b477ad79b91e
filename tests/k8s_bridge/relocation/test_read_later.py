"""A namespace whose pods are read later, as it has used up what is read of it at once."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.k8s_bridge.cluster.kinds import JOBS, NODES
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.readers.live import read_allowance
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench


async def test_a_member_that_has_come_unread_keeps_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of three moves off its node while a Job of its namespace is edited twice a second.

    The pod that comes for it is read seconds later: its Job makes no more, and has made that one.
    """
    monkeypatch.setattr(read_allowance, "MOST_READS", 60.0)
    monkeypatch.setattr(read_allowance, "READS_A_SECOND", 6.0)
    bench = Bench(1, 4)
    try:
        await bench.start()
        await bench.submit("many", 12, gpus=0)
        await bench.submit("a", 3)

        async def edit() -> None:
            for number in range(10**6):
                said = {"topology.scheduler/duration": f"{number % 50 + 100}s"}
                patch = {"metadata": {"annotations": said}}
                await bench.cluster.patch(JOBS, Target(TEAM, "many"), patch)
                await bench.clock.sleep(0.5)

        bench.tasks.append(asyncio.ensure_future(edit()))
        await bench.clock.advance(20)
        node = (await bench.places("a"))[0]
        asked = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
        await bench.cluster.patch(NODES, Target("", node), asked)
        while len(await bench.places("a")) == 3:
            await bench.clock.advance(0.25)
        while len(await bench.places("a")) < 3:
            assert await bench.open_relocations() == ["a"]
            await bench.clock.advance(0.25)
    finally:
        await bench.stop()
