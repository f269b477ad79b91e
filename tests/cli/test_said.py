"""What is read out of the conditions that the scheduler writes."""

from __future__ import annotations

import pytest

from cli.said import kind_of, parsed, said
from k8s_bridge.telling.words import told
from model.reasons import Reason, ReasonKind
from model.reasons_text import sentence

COUNTS = (
    (),
    (("leaves", 4), ("needed", 16), ("free", 50)),
    (("leaves", 1), ("needed", 1), ("free", 0)),
    (("needed", 16), ("quota", 64), ("used", 60)),
    (("present", 3), ("needed", 4)),
    (("taint", 3),),
)


@pytest.mark.parametrize("kind", ReasonKind)
@pytest.mark.parametrize("counts", COUNTS)
def test_each_kind_is_known_by_its_sentence(
    kind: ReasonKind, counts: tuple[tuple[str, int], ...]
) -> None:
    """The sentence of every kind, whatever its numbers, leads back to that kind and no other."""
    assert kind_of(sentence(Reason(kind, counts=counts))) is kind


@pytest.mark.parametrize(
    "kind", [ReasonKind.NO_FREE_CAPACITY, ReasonKind.NO_ADJACENT_LEAVES, ReasonKind.TOO_LARGE]
)
def test_a_detail_does_not_hide_the_kind(kind: ReasonKind) -> None:
    """What is short, or where, comes after the start of the sentence."""
    assert kind_of(sentence(Reason(kind, "GPUs"))) is kind


def test_steps_come_back_one_by_one() -> None:
    """A message is what `told` made of sentence and steps."""
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, unblock=("Wait for a.", "Move b."))
    heard = parsed(told(reason))
    assert heard.sentence == "not enough is free"
    assert heard.unblock == ("Wait for a", "Move b")
    assert heard.kind is ReasonKind.NO_FREE_CAPACITY


def test_somebody_elses_words_have_no_kind() -> None:
    """A message of another scheduler is shown as it is."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "message": "0/3 nodes are available.",
    }
    heard = said([{"status": {"conditions": [condition]}}])
    assert heard is not None
    assert heard.sentence == "0/3 nodes are available"
    assert heard.kind is None


def test_silence() -> None:
    """A pod without that condition, or with one that is true, says nothing."""
    fine = {"type": "PodScheduled", "status": "True", "message": "x"}
    assert said([{}, {"status": {"conditions": [fine]}}]) is None
