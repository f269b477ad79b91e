"""What is read out of the conditions that the scheduler writes."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.runtime.api_text import reason_text
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.reasons.pod_condition import parsed, said
from fourleaf.model.reasons.text import sentence


@pytest.mark.parametrize("kind", ReasonKind)
def test_each_kind_comes_back(kind: ReasonKind) -> None:
    """Whatever the sentence, the kind that `reason_text` put before it is read again."""
    reason = Reason(kind, "a detail: with a colon", (("needed", 16), ("free", 3)))
    heard = parsed(reason_text(reason))
    assert heard.kind is kind
    assert heard.sentence == sentence(reason)


def test_steps_come_back_one_by_one() -> None:
    """A message is what `reason_text` made of sentence and steps."""
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, unblock=("Wait for a.", "Move b."))
    heard = parsed(reason_text(reason))
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


def test_the_nearest_miss_comes_back_after_the_sentence() -> None:
    """In the condition it stands behind the steps, which are what people look for."""
    near = (NearMiss("leaf-1", 1, 2, holders=(("n1", "ml/old"),)),)
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, near=near, unblock=("it starts when ml/old ends",))
    text = reason_text(reason)
    assert text == (
        "NoFreeCapacity: not enough is free. To unblock: it starts when ml/old ends. "
        "Nearest: 1 of 2 nodes free in leaf-1 (n1 held by ml/old)."
    )
    heard = parsed(text)
    assert (heard.sentence, heard.unblock) == (sentence(reason), reason.unblock)
