"""When a text is renewed: at once where its words change, in a while where only its numbers do."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from fourleaf.k8s_bridge.reporting.cycle_facts import ReportedReason
from fourleaf.k8s_bridge.runtime.api_text import but_for_numbers
from fourleaf.model.reasons.kinds import ReasonKind

RETELL_SECONDS = 60.0
"""How long a text stands while only its numbers change, and an event whatever changes: each change
writes to every pod."""

REMIND_SECONDS = 1800.0
"""When an event is repeated: the API forgets events after an hour."""

QUIET_SECONDS = 10.0
"""How long no event says that members are missing after one has come: the others are on their way,
and a warning on each new Job would say nothing. The condition says it at once."""


def first_said(
    kind: ReasonKind, text: str, now: float, quiet_until: float = -inf
) -> ReportedReason:
    """What to say of a gang of which nothing of this kind was said before."""
    words = but_for_numbers(text)
    said = ReportedReason(kind, text, now, now, words=words, event_words=words)
    return _quiet(said, quiet_until) if now < quiet_until else said


def _quiet(said: ReportedReason, until: float) -> ReportedReason:
    """The same without an event before `until`: no event of it has any words so far."""
    return replace(said, event_at=until - RETELL_SECONDS, event_words="")


def steady(
    earlier: ReportedReason | None,
    kind: ReasonKind,
    text: str,
    now: float,
    quiet_until: float = -inf,
) -> ReportedReason:
    """What to say now: the earlier text for as long as it is fresh and only its numbers differ.

    How many members are missing is always the newest. An event of other words follows the one
    before after `RETELL_SECONDS`, the first one not before `quiet_until`.
    """
    if earlier is None or earlier.kind is not kind:
        return first_said(kind, text, now, quiet_until)
    if not earlier.event_words and now < quiet_until:
        earlier = _quiet(earlier, quiet_until)
    words = but_for_numbers(text)
    if now >= _event_due_at(earlier, words):
        earlier = replace(earlier, event_at=now, event_words=words)
    # Each member that comes starts a cycle; the last of them starts the last one.
    holds_back = kind is not ReasonKind.MEMBERS_MISSING and words == earlier.words
    fresh = holds_back and now - earlier.at < RETELL_SECONDS
    if text == earlier.text or fresh:
        return earlier
    return replace(earlier, text=text, at=now, words=words)


def due_at(said: ReportedReason) -> float:
    """When something is to be said again of a gang though nothing changes any more."""
    event = _event_due_at(said, said.words)
    return event if said.text == said.newest else min(event, said.at + RETELL_SECONDS)


def _event_due_at(said: ReportedReason, words: str) -> float:
    """When the next event is due: of the same words, or of others."""
    return said.event_at + (REMIND_SECONDS if words == said.event_words else RETELL_SECONDS)
