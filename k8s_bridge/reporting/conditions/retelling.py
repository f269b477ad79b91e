"""When a text is renewed: at once where readers would act otherwise, else in a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from fourleaf.k8s_bridge.reporting.cycle_facts import ReportedReason
from fourleaf.k8s_bridge.reporting.other_namespaces import gangs_named_in
from fourleaf.k8s_bridge.runtime.api_text import but_for_numbers
from fourleaf.model.reasons.kinds import ReasonKind

RETELL_SECONDS = 60.0
"""How long a text stands while its gist does, and an event whatever changes: each change writes to
every pod."""

REMIND_SECONDS = 1800.0
"""When an event is repeated: the API forgets events after an hour."""

PROMPT_PODS = 100
"""Of a gang of at most so many pods it is always said how many exist: maybe none comes any more,
and no cycle. In a larger one each pod that comes or goes would have too many written anew."""

QUIET_SECONDS = 10.0
"""How long no event says that members are missing after one has come: the others are on their way,
and a warning on each new Job would say nothing. The condition says it at once."""


@dataclass(frozen=True, slots=True)
class Newest:
    """What is to be said of a gang by the newest plan.

    `gist` is what readers would act on, `named` gives the gangs and pods that are there. Where it
    `is_prompt`, no text stands while another is newer.
    """

    kind: ReasonKind
    text: str
    gist: str
    named: Callable[[], frozenset[str]]
    is_prompt: bool = False


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
    newest: Newest,
    now: float,
    quiet_until: float = -inf,
) -> ReportedReason:
    """What to say now: the earlier text for as long as it is fresh and has the same gist.

    It is renewed at once where what it names has ended, once in `RETELL_SECONDS`. An event of
    other words follows the one before after as long, the first one not before `quiet_until`;
    it says the newest.
    """
    kind, text = newest.kind, newest.text
    if earlier is None or earlier.kind is not kind:
        return replace(first_said(kind, text, now, quiet_until), gist=newest.gist)
    if not earlier.event_words and now < quiet_until:
        earlier = _quiet(earlier, quiet_until)
    words = but_for_numbers(text)
    is_due = now >= _event_due_at(earlier, words)
    if is_due:
        earlier = replace(earlier, event_at=now, event_words=words)
    if text == earlier.text:
        return earlier
    is_other = is_due or newest.is_prompt or newest.gist != earlier.gist
    if not is_other and now - earlier.at < RETELL_SECONDS:
        if not is_overtaken(earlier, text, newest.named, now):
            return earlier
        earlier = replace(earlier, hastened_at=now)
    return replace(earlier, text=text, at=now, words=words, gist=newest.gist)


def is_overtaken(
    said: ReportedReason, newest: str, named: Callable[[], frozenset[str]], now: float
) -> bool:
    """Whether something that was `said` names has ended, of which the newest text says nothing.

    `named` are the gangs and pods that are there. Pods that come and go beside a long queue
    would have all of it written anew each time: it is so at most once in `RETELL_SECONDS`.
    """
    if now - said.hastened_at < RETELL_SECONDS or newest == said.text:
        return False
    gone = gangs_named_in(said.text) - gangs_named_in(newest)
    return bool(gone) and not gone <= named()


def due_at(said: ReportedReason) -> float:
    """When something is to be said again of a gang though nothing changes any more."""
    event = _event_due_at(said, said.words)
    return event if said.text == said.newest else min(event, said.at + RETELL_SECONDS)


def _event_due_at(said: ReportedReason, words: str) -> float:
    """When the next event is due: of the same words, or of others."""
    return said.event_at + (REMIND_SECONDS if words == said.event_words else RETELL_SECONDS)
