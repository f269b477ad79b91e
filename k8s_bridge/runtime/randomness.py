"""Where chance comes from: the operating system, or a seed where a run has to repeat."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SYSTEM = random.SystemRandom()
_chance: ContextVar[random.Random] = ContextVar("chance", default=_SYSTEM)


def chance() -> random.Random:
    """The source of all that the bridge leaves to chance: waits, and names of commits."""
    return _chance.get()


@contextmanager
def seeded(source: random.Random) -> Iterator[None]:
    """Let `source` decide meanwhile, also in every task that is started meanwhile."""
    token = _chance.set(source)
    try:
        yield
    finally:
        _chance.reset(token)
