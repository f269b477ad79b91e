"""The policies by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fourleaf.simulator.policies.buddy import Buddy
from fourleaf.simulator.policies.cpsat import CpSatPolicy
from fourleaf.simulator.policies.first_fit import FirstFitPolicy
from fourleaf.simulator.policies.greedy import Greedy
from fourleaf.simulator.policies.protocol import Policy
from fourleaf.simulator.policies.spread import Spread

POLICIES: Mapping[str, Callable[[int], Policy]] = {
    "cpsat": lambda _: CpSatPolicy(),
    "greedy": lambda _: Greedy(),
    "buddy": lambda _: Buddy(),
    "first-fit": lambda _: FirstFitPolicy(),
    "spread": Spread,
}
"""In the order of tables: ours, then the baselines that know leaves, then the one that does not."""
NAMES = tuple(POLICIES)


def policy(name: str, seed: int) -> Policy:
    """A policy for one replay; `seed` decides what it leaves to chance.

    Raises `ValueError` for an unknown name.
    """
    if name not in POLICIES:
        raise ValueError(f"'{name}' is no policy; there are {', '.join(NAMES)}")
    return POLICIES[name](seed)
