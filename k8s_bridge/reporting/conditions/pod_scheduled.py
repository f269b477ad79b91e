"""Gangs that wait: a condition on each of their pods, and an event when the reason changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import is_
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import (
    CycleFacts,
    Members,
    Reported,
    ReportedReason,
)
from fourleaf.k8s_bridge.reporting.other_namespaces import named_in
from fourleaf.k8s_bridge.reporting.recorder.queue_items import (
    Event,
    Outgoing,
    Regarding,
    StatusPatch,
    target_of,
)
from fourleaf.k8s_bridge.runtime.api_text import clipped, reason_text, second
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.reasons.kinds import ReasonKind

SCHEDULED = "PodScheduled"
UNSCHEDULABLE = "Unschedulable"
"""The reason that kubectl and the autoscalers look for."""

RETELL_SECONDS = 60.0
"""How long a text stands while only its numbers change: each change writes to every pod."""

REMIND_SECONDS = 1800.0
"""When an event is repeated: the API forgets events after an hour."""


def what_waits(
    before: Reported, facts: CycleFacts
) -> tuple[list[Outgoing], dict[GangKey, ReportedReason]]:
    """Events and patches for the gangs that wait, and what has been reported then."""
    all_pods = facts.pods
    same = before.messages == facts.messages
    by_answer = {id(one.answer): one for one in before.gangs.values()} if same else {}
    others = before.namespaces ^ facts.namespaces
    outgoing: list[Outgoing] = []
    said: dict[GangKey, ReportedReason] = {}
    texts: dict[tuple[int, str], tuple[str, frozenset[str]]] = {}
    for entry in facts.plan.waiting:
        earlier = by_answer.get(id(entry))
        if earlier is not None and _stands(earlier, all_pods, others, facts.now):
            said[entry.gang] = earlier
            outgoing += earlier.patches
            continue
        gang = facts.snapshot.gangs_by_key.get(entry.gang)
        if gang is None:
            continue
        earlier = before.gangs.get(gang.key)
        # Gangs that are alike share one reason, of which the plan keeps hold.
        of = id(entry.reason), gang.key.namespace
        if of not in texts:
            whole = reason_text(entry.reason)
            texts[of] = facts.as_read_in(gang.key.namespace, whole), named_in(whole)
        text, named = texts[of]
        now = _steady(earlier, entry.reason.kind, text, facts.now)
        seen = {at: all_pods.get(at) for at in _members(gang)}
        pods = tuple(_free_pods(seen.values()))
        if earlier is not None and _is_told(now, earlier) and _are_same(seen, earlier.seen):
            patches = earlier.patches
        else:
            patches = _patches(pods, now.text, facts.now)
        said[gang.key] = now = replace(
            now, newest=text, named=named, answer=entry, seen=seen, patches=patches
        )
        # Again in each cycle, until it has been written: the queue may have had no room for it.
        outgoing += patches
        if pods and (earlier is None or now.event_at != earlier.event_at):
            outgoing.append(_event(gang.key, pods[0], now))
    return outgoing, said


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
        (earlier.text == earlier.newest or now - earlier.at < RETELL_SECONDS)
        and now - earlier.event_at < REMIND_SECONDS
        and earlier.named.isdisjoint(others)
        and all(map(is_, map(pods.get, earlier.seen), earlier.seen.values()))
    )


def _is_told(now: ReportedReason, earlier: ReportedReason) -> bool:
    """Whether the pods are to say what they were to say before."""
    return (now.kind, now.text) == (earlier.kind, earlier.text)


def _are_same(pods: Members, before: Members) -> bool:
    """Whether these are the very same objects, of which none is ever changed."""
    return len(pods) == len(before) and all(map(is_, pods.values(), before.values()))


def _patches(pods: Iterable[Body], text: str, now: float) -> tuple[StatusPatch, ...]:
    """What is to be written to those pods that do not say `text` yet."""
    statuses = ((pod, with_condition(pod, text, now)) for pod in pods)
    return tuple(
        StatusPatch(PODS, target_of(pod), status) for pod, status in statuses if status is not None
    )


def _steady(
    earlier: ReportedReason | None, kind: ReasonKind, text: str, now: float
) -> ReportedReason:
    """What to say now: the earlier text for as long as it is fresh and of the same kind.

    How many members are missing is always the newest.
    """
    if earlier is None or earlier.kind is not kind:
        return ReportedReason(kind, text, now, now)
    if now - earlier.event_at >= REMIND_SECONDS:
        earlier = replace(earlier, event_at=now)
    # Each member that comes starts a cycle; the last of them starts the last one.
    fresh = kind is not ReasonKind.MEMBERS_MISSING and now - earlier.at < RETELL_SECONDS
    return earlier if text == earlier.text or fresh else replace(earlier, text=text, at=now)


def _members(gang: Gang) -> Iterator[tuple[str, str]]:
    return ((gang.key.namespace, name) for role in gang.roles for name in role.pods)


def _free_pods(pods: Iterable[Body | None]) -> Iterator[Body]:
    """Those that exist, are not bound, and are not held by gates of their own.

    The condition of a gated pod belongs to the API server.
    """
    for pod in pods:
        if pod is not None:
            spec = pod.get("spec") or {}
            held = spec.get("nodeName") or spec.get("schedulingGates")
            if not held and "deletionTimestamp" not in pod["metadata"]:
                yield pod


def with_condition(pod: Body, text: str, now: float) -> Body | None:
    """The status that says why `pod` waits; None where it says so already.

    A merge patch replaces the whole list, so all conditions that were seen are in it.
    """
    seen: list[Body] = (pod.get("status") or {}).get("conditions") or []
    old: Body = next((c for c in seen if c.get("type") == SCHEDULED), {})
    condition = {"type": SCHEDULED, "status": "False", "reason": UNSCHEDULABLE, "message": text}
    if condition.items() <= old.items():
        return None
    since = old.get("lastTransitionTime") if old.get("status") == "False" else None
    new: dict[str, Any] = {**old, **condition, "lastTransitionTime": since or second(now)}
    if not old:
        return {"conditions": [*seen, new]}
    return {"conditions": [new if c is old else c for c in seen]}


def _event(gang: GangKey, pod: Body, said: ReportedReason) -> Event:
    return Event(
        regarding=Regarding.of(PODS, pod),
        reason="FailedScheduling",
        note=clipped(f"Gang {gang} waits: {said.text}"),
        action="Scheduling",
        topic=said.kind.value,
        warning=True,
    )
