"""Members that could not be bound are bound first the next time; of few it is remembered."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger import unanswered_bindings
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.unanswered_bindings import UnansweredBindings

MEMBERS = [Member(Target("ml", name, name), "n") for name in "abcd"]


def refused(*numbers: int) -> UnansweredBindings:
    """These members could not be bound, one after the other."""
    known = UnansweredBindings()
    for number in numbers:
        known.impossible(MEMBERS[number])
    return known


def names(turns: list[list[Member]]) -> list[str]:
    """Of each turn, the members by name."""
    return ["".join(one.pod.name for one in some) for some in turns]


def test_who_got_no_answer_is_bound_first() -> None:
    """Where it cannot be bound again, no other member has to go; once it stands, all go at once."""
    known = refused(2)
    assert names(known.in_turn(MEMBERS)) == ["c", "abd"]
    known.bound(MEMBERS[2])
    assert names(known.in_turn(MEMBERS)) == ["abcd"]


def test_of_few_it_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest are forgotten first."""
    monkeypatch.setattr(unanswered_bindings, "SUSPECTS_LIMIT", 2)
    assert names(refused(3, 0, 1).in_turn(MEMBERS)) == ["ab", "cd"]
