"""Who goes ahead once a plan has found no place, by the gangs that wait for each other."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Waiting
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.likeness import Likeness
from fourleaf.model.readers.gangs.turns import YIELD_SECONDS, Turns
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests import small


def draft(name: str, kind: str) -> Draft:
    """A gang of one pod of a kind, with nothing else known of it."""
    made = object.__new__(Draft)
    for field in fields(Draft):
        setattr(made, field.name, None)
    made.gang, made.kind = small.gang(name, 1), Likeness(kind)
    return made


@pytest.mark.parametrize(("behind", "is_another_order"), [("same", False), ("other", True)])
def test_only_gangs_of_another_kind_go_ahead(behind: str, is_another_order: bool) -> None:
    """No room keeps those that are alike from their places too: to try them is in vain."""
    turns, first = Turns(), draft("first", "same")
    turns.goes_ahead(first, draft("behind", behind))
    waits = Waiting(first.gang.key, Reason(ReasonKind.NO_FREE_CAPACITY))
    assert turns.not_placed([waits], 0.0) is is_another_order


def failed() -> tuple[Turns, Draft, Draft]:
    """Turns in which the first of two gangs, of two namespaces, found no place at 1000 s."""
    turns, first, behind = Turns(), draft("first", "one"), draft("behind", "another")
    behind.gang = replace(behind.gang, key=GangKey("other", "behind"))
    for one in (first, behind):
        one.gang = replace(one.gang, created=0.0)
    first.gang = replace(first.gang, priority=9)
    turns.goes_ahead(first, behind)
    assert turns.not_placed([Waiting(first.gang.key, Reason(ReasonKind.NO_FREE_CAPACITY))], 1000.0)
    return turns, first, behind


def goes_first(turns: Turns, first: Draft, behind: Draft) -> bool:
    """Whether the first one comes before the one behind it."""
    return turns.order(first) < turns.order(behind)


@pytest.mark.parametrize("step", [0.0, -3600.0, 3600.0])
def test_a_namespace_comes_after_others_for_a_minute(step: float) -> None:
    """Also where the clock is set back or forth by an hour meanwhile: never for longer."""
    turns, first, behind = failed()
    turns.not_placed([], 1000.0)
    turns.something_changed([first, behind], 1000.0 + YIELD_SECONDS / 2)
    assert not goes_first(turns, first, behind)
    turns.something_changed([first, behind], 1000.0 + step + YIELD_SECONDS + 1)
    assert goes_first(turns, first, behind)


def test_who_waited_is_planned_once_before_the_other_has_its_turn_again() -> None:
    """What changes before that plan gives the turn back after it, what changes later at once."""
    turns, first, behind = failed()
    behind.gang = replace(behind.gang, key=GangKey(first.gang.key.namespace, "behind"))
    later = 1000.0 + 2 * YIELD_SECONDS
    turns.something_changed([first, behind], later)
    assert not goes_first(turns, first, behind)
    assert turns.not_placed([], later)
    assert goes_first(turns, first, behind)
    turns, first, behind = failed()
    behind.gang = replace(behind.gang, key=GangKey(first.gang.key.namespace, "behind"))
    assert not turns.not_placed([], later)
    assert not goes_first(turns, first, behind)
    turns.something_changed([first, behind], later)
    assert goes_first(turns, first, behind)
