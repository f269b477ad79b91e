"""Whatever happens, reading changes comes to what reading everything at once comes to."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourleaf.model.readers.live import pod_cache, read_allowance
from tests.model.readers.live.live_world import World


@pytest.mark.parametrize("seed", range(60))
def test_a_random_history_is_read_like_its_outcome(seed: int) -> None:
    """After every batch of random events both ways of reading agree."""
    world = World(random.Random(seed).choice)  # noqa: S311
    for batch in range(30):
        for _ in range(1 + batch % 7):
            world.happen()
        world.check()


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_history_is_read_like_its_outcome(data: st.DataObject) -> None:
    """After every few events that Hypothesis chooses both ways of reading agree."""
    world = World(lambda options: data.draw(st.sampled_from(options)))
    for count in data.draw(st.lists(st.integers(1, 5), max_size=6)):
        for _ in range(count):
            world.happen()
        world.check()


@pytest.mark.parametrize("seed", range(24))
def test_what_is_read_late_leaves_no_room_that_is_taken(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where hardly any gang may be read again, each reading has all pods that are on nodes.

    Once the namespaces may have more read, both ways of reading agree.
    """
    monkeypatch.setattr(pod_cache, "FEW_PODS", 2)
    monkeypatch.setattr(read_allowance, "READS_A_SECOND", 0.5)
    monkeypatch.setattr(read_allowance, "MOST_READS", 8.0)
    world = World(random.Random(seed).choice)  # noqa: S311
    for batch in range(1, 31):
        for _ in range(1 + batch % 7):
            world.happen()
        live, plain = world.reader.reading(world.now, 3), world.at_once()
        there = {(str(one), one.node) for one in live.snapshot.running}
        pods = {f"{space}/{name}" for _, kind, space, name in world.objects if kind == "Pod"}
        on_nodes = {(str(one), one.node) for one in plain.snapshot.running if str(one) in pods}
        assert on_nodes <= there
        for name, held in plain.snapshot.used.items():
            assert live.snapshot.used[name].pods >= held.pods
        if batch % 10 == 0:
            for _ in range(2000):
                world.now += 100
                world.reader.reading(world.now, 3)
                if not world.reader.is_behind:
                    break
            world.check()
