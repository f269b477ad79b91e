"""A scheduler for the tests of relocations."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.k8s_bridge.relocation.bench import Bench


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A scheduler that leads."""
    bench = Bench()
    await bench.start()
    yield bench
    await bench.stop()
