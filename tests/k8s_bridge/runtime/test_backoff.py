"""How long waits become: doubled up to a limit, and never shorter than a server asks for."""

from __future__ import annotations

from random import Random

from fourleaf.k8s_bridge.runtime.backoff import Backoff
from tests.twins.virtual_clock import VirtualClock


class Longest(Random):
    """Chance that always makes waits as long as they may be."""

    def uniform(self, a: float, b: float) -> float:
        """The larger one."""
        return b


def test_waits_double_up_to_five_seconds() -> None:
    """At most 0.05 s before the second attempt, and 5 s before the ninth and all others."""
    backoff = Backoff(VirtualClock(), chance=Longest())
    waits = [backoff.next() for _ in range(9)]
    assert waits == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    backoff.reset()
    assert backoff.next() == 0.05


def test_a_server_that_asks_for_more_has_it() -> None:
    """Ten seconds are waited for where the API says so, whatever is due."""
    assert Backoff(VirtualClock(), chance=Longest()).next(10.0) == 10.0
