"""Reasons as sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.reasons.text import cause, listed, nearest, sentence, steps

COUNTS = ("needed", "free", "total", "leaves", "present", "quota", "used", "ahead", "batch")


@given(
    st.sampled_from(ReasonKind),
    st.sampled_from(["", "some detail"]),
    st.dictionaries(st.sampled_from(COUNTS), st.integers(0, 10**6)),
)
def test_every_reason_has_a_sentence(kind: ReasonKind, detail: str, counts: dict[str, int]) -> None:
    """Whatever numbers a reason carries, it reads as one line without loose ends."""
    said = sentence(Reason(kind, detail, tuple(counts.items())))
    assert said
    assert "\n" not in said
    assert "  " not in said
    assert not said.endswith((":", ";", ",", ".", " "))


def test_sentences_of_different_kinds_differ() -> None:
    """No two kinds of reason read the same."""
    said = [sentence(Reason(kind)) for kind in ReasonKind]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            Reason(ReasonKind.MEMBERS_MISSING, counts=(("present", 3), ("needed", 4))),
            "3 of 4 members exist",
        ),
        (
            Reason(ReasonKind.QUOTA_EXCEEDED, "ml", (("needed", 64), ("quota", 128), ("used", 96))),
            "needs 64 GPUs; 32 of the quota of ml of 128 are left",
        ),
        (
            Reason(ReasonKind.TOO_LARGE, counts=(("needed", 70), ("total", 64))),
            "larger than the fabric allows even when empty: needs 70 nodes, the fabric has 64",
        ),
        (
            Reason(
                ReasonKind.NO_ADJACENT_LEAVES, counts=(("leaves", 1), ("needed", 1), ("free", 1))
            ),
            "no leaf has the room: needs 1 node, 1 is free",
        ),
        (
            Reason(ReasonKind.NOT_IN_BATCH, counts=(("ahead", 500), ("batch", 500))),
            "not in this batch: 500 gangs come before it and a batch takes 500",
        ),
    ],
)
def test_counts_become_words(reason: Reason, said: str) -> None:
    """The numbers of a reason stand in its sentence."""
    assert cause(reason) == said


def test_nearest_miss_names_leaf_node_and_holder() -> None:
    """The nearest miss says how close it was and who holds the rest."""
    miss = NearMiss("leaf-07", 3, 4, holders=(("node-29", "ml/bert-1"),))
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, near=(miss,))
    near = "3 of 4 nodes free in leaf-07 (node-29 held by ml/bert-1)"
    assert nearest(reason) == near
    assert sentence(reason) == f"not enough is free; nearest: {near}"


def test_nearest_miss_shows_short_leaves_and_counts_nodes_of_one_holder() -> None:
    """Leaves with room enough are left out, and a holder of many nodes is named once."""
    holders = (("a", "ml/x"), ("b", "ml/x"), ("c", "ml/x"))
    reason = Reason(
        ReasonKind.NO_ADJACENT_LEAVES,
        near=(NearMiss("leaf-1", 4, 4), NearMiss("leaf-2", 1, 4, "nodes", holders)),
    )
    assert nearest(reason) == "1 of 4 nodes free in leaf-2 (a and 2 more held by ml/x)"


def miss(leaf: str, free: int, *holders: str) -> NearMiss:
    """A leaf of four nodes, of which so many are free and each other one has a holder."""
    return NearMiss(leaf, free, 4, holders=tuple((f"{leaf}-{n}", h) for n, h in enumerate(holders)))


def test_of_many_leaves_those_with_something_free_are_named_and_holders_once() -> None:
    """Six leaves, two of them with a free node, held by five gangs of which three are named."""
    near = (
        miss("a", 0, "ml/v", "ml/v", "ml/v", "ml/v"),
        miss("b", 3, "ml/w"),
        miss("c", 1, "ml/x", "ml/y", "ml/z"),
        miss("d", 0, "ml/v", "ml/v", "ml/v", "ml/v"),
    )
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, near=near)
    said = "3 of 4 nodes free in b and 1 of 4 in c; held by ml/w, ml/x, ml/y and 1 more"
    assert nearest(reason) == said


def test_where_nothing_is_free_leaves_and_holders_are_counted() -> None:
    """Five full leaves of one gang each."""
    near = tuple(miss(name, 0, *[f"ml/{name}"] * 4) for name in "abcde")
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, near=near)
    assert nearest(reason) == (
        "nothing free in a, b, c and 2 more; held by ml/a, ml/b, ml/c and 2 more"
    )


@pytest.mark.parametrize(
    ("names", "said"),
    [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcde", "a, b, c and 2 more")],
)
def test_at_most_three_are_named(names: str, said: str) -> None:
    """Of more, how many there are."""
    assert listed(list(names)) == said


def test_of_many_steps_the_first_three_are_told() -> None:
    """And that there are others."""
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, unblock=tuple("abcde"))
    assert steps(reason) == ["a", "b", "c", "or one of 2 more"]
    assert steps(Reason(ReasonKind.NO_FREE_CAPACITY, unblock=("a",))) == ["a"]


@pytest.mark.parametrize(
    ("detail", "first"),
    [
        ("disruption budget ml/web lets 0 go", "raise what forbids it: a disruption budget or"),
        ("", "raise the disruption budgets of pods in its way, which `kubectl get pdb -A` shows"),
    ],
)
def test_forbidden_evictions_never_come_without_a_way_out(detail: str, first: str) -> None:
    """Whoever found the limits: named or not, it is said what to raise; own steps go before."""
    reason = Reason(ReasonKind.EVICTIONS_FORBIDDEN, detail)
    assert steps(reason)[0].startswith(first)
    assert steps(replace(reason, unblock=("raise ml/web",))) == ["raise ml/web"]
