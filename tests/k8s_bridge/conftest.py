"""What every test of the bridge needs: chance that is the same in every run of that test."""

import random
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from fourleaf.k8s_bridge.runtime import randomness
from tests.seeds import FIRST_SEED


@pytest.fixture(autouse=True)
def _chance_that_repeats(request: pytest.FixtureRequest) -> Iterator[None]:
    """Waits that are drawn in a test are those of its name: what failed once fails again."""
    source = random.Random(f"{FIRST_SEED} {request.node.nodeid}")  # noqa: S311 - has to repeat
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(randomness, "_chance", ContextVar("chance", default=source))
        yield
