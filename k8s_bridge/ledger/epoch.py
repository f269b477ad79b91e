"""Epochs: a leader that meets a higher one than its own has been replaced and stops writing."""

from __future__ import annotations

EPOCH_LIMIT = 2**30
"""The highest epoch that counts. No cluster has as many terms, and the API holds less than 2^31."""


class Fenced(Exception):
    """A record carries a higher epoch than ours: another leader has taken over."""


def epoch_read(said: object) -> int:
    """The epoch that a Lease says, 0 where it says none or nonsense."""
    return said if isinstance(said, int) and 0 < said <= EPOCH_LIMIT else 0


def check_epoch(ours: int, found: int, what: str) -> None:
    """Raise `Fenced` where `found`, the epoch of the record `what`, is above `ours`."""
    if found > ours:
        raise Fenced(f"{what} was written in epoch {found}, ours is {ours}")
