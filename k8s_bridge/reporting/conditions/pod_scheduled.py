"""Gangs that wait: a condition on each of their pods, and events when the reason changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from operator import is_

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.conditions.gist import gist_of
from fourleaf.k8s_bridge.reporting.conditions.member_patches import (
    MemberPatches,
    is_free,
    member_patches,
    patches_of,
)
from fourleaf.k8s_bridge.reporting.conditions.retelling import (
    PROMPT_PODS,
    QUIET_SECONDS,
    Newest,
    due_at,
    first_said,
    is_overtaken,
    steady,
)
from fourleaf.k8s_bridge.reporting.cycle_facts import (
    CycleFacts,
    MemberNews,
    Members,
    Reported,
    ReportedReason,
)
from fourleaf.k8s_bridge.reporting.events.waiting_gangs import Makers, waits_event
from fourleaf.k8s_bridge.reporting.other_namespaces import named_in
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Outgoing, Regarding
from fourleaf.k8s_bridge.runtime.api_text import reason_text
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Waiting
from fourleaf.model.readers.objects.timestamps import seconds_of
from fourleaf.model.reasons.kinds import Reason, ReasonKind

LONG_QUEUE = 1000
"""Of so many gangs, all are looked at each time."""

LOOK_SECONDS = 5.0
"""Between two looks at all of a longer queue."""

MOST_AT_ONCE = 2000
"""Gangs, at most, of which something new is said at once."""


def what_waits(before: Reported, facts: CycleFacts) -> tuple[list[Outgoing], Reported]:
    """Events and patches for the gangs that wait, and `before` with what has been reported then.

    In a long queue only new answers are looked at each time, and so many of them at once.
    """
    now = {id(entry): entry for entry in facts.plan.waiting}
    is_long = len(now) > LONG_QUEUE and before.messages == facts.messages
    others = before.namespaces ^ facts.namespaces
    looks = not is_long or others or facts.now - before.looked_at >= LOOK_SECONDS
    answers = _standing(before, facts, others) if looks else dict(before.answers)
    for number in answers.keys() - now.keys():
        del answers[number]
    outgoing: list[Outgoing] = []
    if looks:
        outgoing += [patch for one in answers.values() for patch in one.patches.values()]
    gangs = dict(before.gangs)
    gone = (before.answers[number].answer for number in before.answers.keys() - answers.keys())
    for gang in (*(one.gang for one in gone if one is not None), *before.untold):
        gangs.pop(gang, None)
    teller = _Teller(before.gangs, facts, outgoing)
    new = [entry for number, entry in now.items() if number not in answers]
    if len(new) > MOST_AT_ONCE:
        # In turn: answers that are made anew in each cycle would be the first ones each time.
        untold_before = frozenset(before.untold)
        new.sort(key=lambda entry: (entry.gang not in untold_before, entry.gang in before.gangs))
    for entry in new[:MOST_AT_ONCE]:
        said = teller.tell(entry)
        if said is not None:
            gangs[entry.gang] = said
            if entry.gang not in teller.rest:
                answers[id(entry)] = said
    late = tuple(entry.gang for entry in new[MOST_AT_ONCE:])
    gangs |= {gang: before.gangs[gang] for gang in late if gang in before.gangs}
    looked_at = facts.now if looks else before.looked_at
    return outgoing, replace(
        before,
        gangs=gangs,
        answers=answers,
        looked_at=looked_at,
        untold=(*late, *teller.rest),
        news={**before.news, **teller.news},
    )


class _Teller:
    """Says why gangs wait, one after the other; what is to be written goes to `outgoing`.

    Of `news` the other pods are to be told later, and those of the gangs `rest` that are left.
    """

    def __init__(
        self,
        before: Mapping[GangKey, ReportedReason],
        facts: CycleFacts,
        outgoing: list[Outgoing],
    ) -> None:
        self._before = before
        self._facts = facts
        self._outgoing = outgoing
        self._makers = Makers(facts.objects)
        self.news: dict[GangKey, MemberNews] = {}
        self.rest: list[GangKey] = []
        self._texts: dict[tuple[int, str], tuple[str, str, frozenset[str]]] = {}

    def tell(self, entry: Waiting) -> ReportedReason | None:
        """Say it, None where no such gang waits any more."""
        facts = self._facts
        gang = facts.snapshot.gangs_by_key.get(entry.gang)
        if gang is None:
            return None
        earlier = self._before.get(gang.key)
        text, gist, named = self._text(entry.reason, gang.key.namespace)
        pods = facts.pods
        seen = {at: pods.get(at) for at in _members(gang)}
        kind = entry.reason.kind
        awaits = kind is ReasonKind.MEMBERS_MISSING
        is_first = earlier is None or earlier.kind is not kind or not earlier.event_words
        quiet_until = _quiet_until(seen, facts.now) if awaits and is_first else -inf
        is_prompt = awaits and len(seen) <= PROMPT_PODS
        newest = Newest(kind, text, gist, lambda: facts.named, is_prompt)
        now = steady(earlier, newest, facts.now, quiet_until)
        known = None
        if earlier is not None and _is_told(now, earlier):
            known = MemberPatches(earlier.patches, earlier.seen)
        made = member_patches(seen, now.text, facts.now, known)
        # Again each time, until it has been written: the queue may have had no room for it.
        self._outgoing += made.patches.values()
        if not made.is_whole:
            self.rest.append(gang.key)
        is_due = earlier is None or now.event_at != earlier.event_at
        if is_due and now.event_words:
            self._warn(gang.key, now, tuple(_free_pods(seen.values())))
        return replace(
            now, newest=text, named=named, answer=entry, seen=made.seen, patches=made.patches
        )

    def _warn(self, gang: GangKey, said: ReportedReason, pods: Sequence[Body]) -> None:
        """An event on the first of `pods` and on what made them; the others are told later."""
        if pods:
            first, *others = (Regarding.of(PODS, pod) for pod in pods)
            told = (first, *self._makers.of(pods))
            self._outgoing += (waits_event(one, gang, said) for one in told)
            self.news[gang] = MemberNews(said.event_at, tuple(others))

    def _text(self, reason: Reason, namespace: str) -> tuple[str, str, frozenset[str]]:
        """The reason in words, their gist, and the namespaces that it names."""
        # Gangs that are alike share one reason, of which the plan keeps hold.
        of = id(reason), namespace
        if of not in self._texts:
            whole = reason_text(reason)
            text = self._facts.as_read_in(namespace, whole)
            gist = gist_of(text, self._facts.snapshot.fabric)
            self._texts[of] = text, gist, named_in(whole)
        return self._texts[of]


def what_gang_awaits(
    gang: GangKey, pods: Sequence[Body], makers: Makers, why: Reason, now: float
) -> list[Outgoing]:
    """Events and patches that say `why` of a gang that is being bound, and on what made it.

    The next cycle that finds it waiting says what holds then.
    """
    free, text = list(_free_pods(pods)), reason_text(why)
    patches: list[Outgoing] = [*patches_of(free, text, now)]
    said = first_said(why.kind, text, now)
    told = [Regarding.of(PODS, pod) for pod in free[:1]] + makers.of(free)
    return [*patches, *(waits_event(one, gang, said) for one in told)]


def _standing(
    before: Reported, facts: CycleFacts, others: frozenset[str]
) -> dict[int, ReportedReason]:
    """What is to be said as before, by the identity of the plan's answer."""
    if before.messages != facts.messages:
        return {}
    pods, now = facts.pods, facts.now
    return {
        number: one
        for number, one in before.answers.items()
        if _stands(one, pods, others, now)
        and not is_overtaken(one, one.newest, lambda: facts.named, now)
    }


def _stands(
    earlier: ReportedReason,
    pods: Mapping[tuple[str, str], Body],
    others: frozenset[str],
    now: float,
) -> bool:
    """Whether the same is to be said, and written, as when all pods were as they are.

    `others` are namespaces that have come or gone. Bodies are never changed, so a pod that is the
    very same object is as it was.
    """
    return (
        now < due_at(earlier)
        and earlier.named.isdisjoint(others)
        and all(map(is_, map(pods.get, earlier.seen), earlier.seen.values()))
    )


def _is_told(now: ReportedReason, earlier: ReportedReason) -> bool:
    """Whether the pods are to say what they were to say before."""
    return (now.kind, now.text) == (earlier.kind, earlier.text)


def _members(gang: Gang) -> Iterator[tuple[str, str]]:
    return ((gang.key.namespace, name) for role in gang.roles for name in role.pods)


def _quiet_until(members: Members, now: float) -> float:
    """Until when others may be on their way: for a while after the newest of `members` was made."""
    made = (str(pod["metadata"].get("creationTimestamp")) for pod in members.values() if pod)
    newest = seconds_of(max(made, default=""))
    return -inf if newest is None else min(newest, now) + QUIET_SECONDS


def _free_pods(pods: Iterable[Body | None]) -> Iterator[Body]:
    """Those that exist and may be told."""
    return (pod for pod in pods if pod is not None and is_free(pod))
