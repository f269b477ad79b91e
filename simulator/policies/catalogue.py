"""The policies by name."""

from __future__ import annotations

from fourleaf.simulator.policies.protocol import Policy

NAMES = ("cpsat", "greedy", "buddy", "first-fit", "spread")
"""In the order of tables: ours, then the baselines that know leaves, then the one that does not."""


def policy(name: str, seed: int) -> Policy:
    """A policy for one replay; `seed` decides what it leaves to chance.

    Raises `ValueError` for an unknown name.
    """
    if name == "cpsat":
        from fourleaf.simulator.policies.cpsat import CpSatPolicy

        return CpSatPolicy()
    if name == "greedy":
        from fourleaf.simulator.policies.greedy import Greedy

        return Greedy()
    if name == "buddy":
        from fourleaf.simulator.policies.buddy import Buddy

        return Buddy()
    if name == "first-fit":
        from fourleaf.simulator.policies.first_fit import FirstFitPolicy

        return FirstFitPolicy()
    if name == "spread":
        from fourleaf.simulator.policies.spread import Spread

        return Spread(seed)
    raise ValueError(f"'{name}' is no policy; there are {', '.join(NAMES)}")
