"""Epochs: whoever meets a higher one than its own has been replaced and stops writing."""

from __future__ import annotations


class Fenced(Exception):
    """A record carries a higher epoch than ours: another leader has taken over."""


def check_epoch(ours: int, found: int, what: str) -> None:
    """Raise `Fenced` where `found`, the epoch of the record `what`, is above `ours`."""
    if found > ours:
        raise Fenced(f"{what} was written in epoch {found}, ours is {ours}")
