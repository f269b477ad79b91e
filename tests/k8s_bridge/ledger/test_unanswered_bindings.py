"""Members whose bindings got no answer are bound first the next time; of few it is remembered."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger import unanswered_bindings
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.unanswered_bindings import BindingAttempt, UnansweredBindings
from tests.k8s_bridge.ledger.harness import InstantClock

MEMBERS = [Member(Target("ml", name, name), "n") for name in "abcd"]


def given_up(*numbers: int) -> UnansweredBindings:
    """These members were given up, one after the other."""
    clock = InstantClock()
    known = UnansweredBindings(clock)
    for number in numbers:
        known.give_up(BindingAttempt("commit", MEMBERS[number], clock))
    return known


def names(turns: list[list[Member]]) -> list[str]:
    """Of each turn, the members by name."""
    return ["".join(one.pod.name for one in some) for some in turns]


def test_who_got_no_answer_is_bound_first() -> None:
    """Where it gets none again, no other member has to go; once it stands, all go at once."""
    known = given_up(2)
    assert names(known.in_turn(MEMBERS)) == ["c", "abd"]
    known.bound(MEMBERS[2])
    assert names(known.in_turn(MEMBERS)) == ["abcd"]


def test_of_few_it_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest are forgotten first."""
    monkeypatch.setattr(unanswered_bindings, "SUSPECTS_LIMIT", 2)
    assert names(given_up(3, 0, 1).in_turn(MEMBERS)) == ["ab", "cd"]
