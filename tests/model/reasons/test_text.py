"""Reasons as sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.reasons.text import cause, nearest, sentence

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
