"""Streams of chance: one for each purpose, so that one more draw here changes nothing there."""

from __future__ import annotations

import random


def stream(seed: int, *purpose: str) -> random.Random:
    """The numbers that `seed` gives for a purpose, the same in every run."""
    return random.Random(f"{seed}/{'/'.join(purpose)}")  # noqa: S311 - has to repeat
