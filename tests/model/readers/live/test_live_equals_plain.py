"""Whatever happens, reading changes comes to what reading everything at once comes to."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
