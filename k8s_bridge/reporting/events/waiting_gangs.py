"""Events of gangs that wait: on what the team made at once, and on each pod in turn.

What the team made is told at once with the first pod. The other pods are told a few at a time:
thousands wait for one reason, and the API server has other things to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import MemberNews, Objects, Reported, ReportedReason
from fourleaf.k8s_bridge.reporting.pod_groups.statuses import DIALECTS
from fourleaf.k8s_bridge.reporting.pod_groups.tally import group_of
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.gang import GangKey

MEMBERS_AT_ONCE = 10
"""Pods that are told at once; twice a second that is less than is written of events."""

MOST_MAKERS = 4
"""Owners and groups of one gang that are told."""

_MOST_STEPS = 6
"""From a pod to what was made by hand: LeaderWorkerSets take four."""


def waits_event(regarding: Regarding, gang: GangKey, said: ReportedReason) -> Event:
    """Says of `regarding` why its gang waits."""
    return Event(
        regarding=regarding,
        reason="FailedScheduling",
        note=clipped(f"Gang {gang} waits: {said.text}"),
        action="Scheduling",
        # A recount shows an Event as new, whose note cannot be changed.
        topic=said.event_words,
        warning=True,
    )


def what_members_are_told(before: Reported) -> tuple[list[Event], Reported]:
    """Events for the next pods that are still to be told, and what is then left."""
    events: list[Event] = []
    left: dict[GangKey, MemberNews] = {}
    for gang, news in before.news.items():
        said = before.gangs.get(gang)
        if said is None or said.event_at != news.event_at:
            continue
        room = MEMBERS_AT_ONCE - len(events)
        events += (waits_event(pod, gang, said) for pod in news.pods[:room])
        if rest := news.pods[room:]:
            left[gang] = replace(news, pods=rest)
    return events, replace(before, news=left)


class Makers:
    """What teams made that makes the pods of gangs, among the objects that are watched."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._kinds: Mapping[tuple[str, str], Kind] = {
            (kind.group, kind.name): kind for kind in objects
        }

    def of(self, pods: Iterable[Body]) -> list[Regarding]:
        """The topmost owners of `pods`, and their PodGroups, each once, a few at most."""
        found: dict[Regarding, None] = {}
        seen = set()
        for pod in pods:
            owner = _controller(pod)
            if owner.get("uid") not in seen:
                seen.add(owner.get("uid"))
                found |= dict.fromkeys(self._topmost(pod))
            found |= dict.fromkeys(self._groups(pod))
            if len(found) >= MOST_MAKERS:
                break
        return list(found)[:MOST_MAKERS]

    def _topmost(self, pod: Body) -> Iterator[Regarding]:
        """The last owner up the line that is watched, and is the very one that is named."""
        body, top = pod, None
        for _ in range(_MOST_STEPS):
            owner = _controller(body)
            group = str(owner.get("apiVersion") or "").rpartition("/")[0]
            kind = self._kinds.get((group, str(owner.get("kind"))))
            namespace = body["metadata"].get("namespace", "")
            above = self._objects[kind].get((namespace, owner["name"])) if kind else None
            if kind is None or above is None or above["metadata"].get("uid") != owner.get("uid"):
                break
            body, top = above, Regarding.of(kind, above)
        if top is not None:
            yield top

    def _groups(self, pod: Body) -> Iterator[Regarding]:
        named = group_of(pod)
        if named is not None:
            dialect, namespace, name = named
            for kind in (one for one, its in DIALECTS.items() if its is dialect):
                body = self._objects.get(kind, {}).get((namespace, name))
                if body is not None:
                    yield Regarding.of(kind, body)


def _controller(body: Body) -> Mapping[str, str]:
    """The owner reference of what makes and replaces `body`, empty where nothing does."""
    references: Sequence[Mapping[str, str]] = body["metadata"].get("ownerReferences") or ()
    return next((one for one in references if one.get("controller")), {})
