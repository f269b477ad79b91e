"""Texts keep to what the API takes."""

from __future__ import annotations

from fourleaf.k8s_bridge.runtime.api_text import (
    TEXT_LIMIT_BYTES,
    clipped,
    microsecond,
    reason_text,
    second,
)
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests.k8s_bridge.reporting.made import SHORT, SHORT_TEXT


def test_a_reason_says_why_and_what_would_help() -> None:
    """The sentence comes first, then the steps, without doubled stops."""
    assert reason_text(SHORT) == SHORT_TEXT


def test_a_reason_without_advice_is_one_sentence() -> None:
    """Nothing is announced that does not follow."""
    assert reason_text(Reason(ReasonKind.OUTRANKED)) == (
        "Outranked: it would fit, but gangs that come before it take the room."
    )


def test_long_texts_are_cut_between_characters() -> None:
    """1024 bytes of two-byte characters: 510 of them (1020 bytes) and three dots."""
    text = clipped("é" * 600)
    assert text == "é" * 510 + "..."
    assert len(text.encode()) <= TEXT_LIMIT_BYTES
    assert clipped("é" * 512) == "é" * 512


def test_times_are_those_of_the_api() -> None:
    """A billion seconds after 1970 is 2001-09-09T01:46:40Z."""
    assert second(1_000_000_000.9) == "2001-09-09T01:46:40Z"
    assert microsecond(1_000_000_000.25) == "2001-09-09T01:46:40.250000Z"
