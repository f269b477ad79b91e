"""Hold rules: each says why a gang may not be planned now; they are applied here alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from fourleaf.model.gang import Gang, Hold
from fourleaf.model.snapshot import Snapshot


class HoldRule(Protocol):
    """One reason to hold gangs back."""

    def __call__(self, gang: Gang, /) -> Hold | None:
        """The hold of `gang`, or `None` where this rule has nothing against it."""


def hold_back(snapshot: Snapshot, rules: Iterable[HoldRule | None]) -> Snapshot:
    """Hold each gang that no one holds yet by the first rule that objects; None never does."""
    active = [rule for rule in rules if rule is not None]
    if not active:
        return snapshot
    return snapshot.with_gangs(tuple(_held(gang, active) for gang in snapshot.gangs))


def _held(gang: Gang, rules: list[HoldRule]) -> Gang:
    if gang.hold is not None:
        return gang
    hold = next((hold for rule in rules if (hold := rule(gang)) is not None), None)
    return gang if hold is None else replace(gang, hold=hold)
