"""Who goes ahead once a plan has found no place, by the gangs that wait for each other."""

from __future__ import annotations

from dataclasses import fields

import pytest

from fourleaf.model.plan import Waiting
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.likeness import Likeness
from fourleaf.model.readers.gangs.turns import Turns
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
