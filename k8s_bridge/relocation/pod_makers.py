"""Pod makers: the Job, ReplicaSet or StatefulSet that makes a pod anew, and how many it is to make.

A controller takes its time: that of Jobs waits for minutes after several failures. It is found by
the name of the pod, which is gone by then, and which who leads now may never have seen. A name that
the API server has cut names none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import JOBS, REPLICA_SETS, STATEFUL_SETS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.model.gang import GangKey
from fourleaf.model.running_gang import PodName

Objects = Mapping[Kind, Mapping[tuple[str, str], Body]]
"""Kind -> (namespace, name) -> object, as watched."""

LivePods = Callable[[str, str], int]
"""Namespace and UID of a controller -> how many pods that it has made run or wait."""

Makers = Mapping[tuple[Kind, str, str], str]
"""Kind, namespace and name of makers -> the UID of each."""

REPLACE_SECONDS = 10.0
"""Seconds for which a StatefulSet that is gone may be on its way to be replaced: it is deleted
without its pods and applied anew where a field of it has to change that cannot."""

_OF_AN_INDEX = re.compile(r"(.+)-[0-9]+-[a-z0-9]{5}")
_GENERATED = re.compile(r"(.+)-[a-z0-9]{5}")
_NUMBERED = re.compile(r"(.+)-[0-9]+")

_ENDS = frozenset({"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"})
"""Conditions of a Job that makes no pods any more."""

_NOT_MADE_ANEW = frozenset({"Deployment", "CronJob"})
"""Controllers that do not make what has ended under the same name again, as a JobSet does."""


@dataclass(frozen=True, slots=True)
class _WantedPods:
    """How many pods there should be of a maker; `final`: and that stays so for it."""

    pods: int
    final: bool = False


class KnownMakers:
    """The makers of pods that leave, as this leader has first seen them beside each relocation.

    One that is deleted in the background is gone at once, as if it had never been.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[GangKey, float], Makers] = {}
        """Gang and time of a relocation -> its makers."""
        self._gone_since: dict[tuple[Kind, str, str], float] = {}

    def of(
        self, there: Sequence[Relocation], objects: Objects, now: float
    ) -> dict[GangKey, Makers]:
        """The makers of each of these, which are all that there are; `now` in seconds.

        One is left out that may be replaced any moment.
        """
        known = self._known
        self._known = {
            key: known[key] if key in known else _makers_of(one, objects)
            for one in there
            for key in [(one.gang, one.opened)]
        }
        gone = {
            maker
            for makers in self._known.values()
            for maker in makers
            if maker[0] is STATEFUL_SETS and maker[1:] not in objects.get(STATEFUL_SETS, {})
        }
        self._gone_since = {maker: self._gone_since.get(maker, now) for maker in gone}
        return {
            gang: {maker: uid for maker, uid in makers.items() if not self._is_awaited(maker, now)}
            for (gang, _), makers in self._known.items()
        }

    def _is_awaited(self, maker: tuple[Kind, str, str], now: float) -> bool:
        return now - self._gone_since.get(maker, -math.inf) < REPLACE_SECONDS


def _makers_of(one: Relocation, objects: Objects) -> Makers:
    """Those that are there, but for such as another controller may make again."""
    found = dict[tuple[Kind, str, str], str]()
    for seat in one.seats:
        namespace = seat.pod.namespace
        for kind, name, wanted in () if seat.waits else _makers_by_name(seat.pod.name):
            body = objects.get(kind, {}).get((namespace, name))
            if body is None or _made_at(body) > one.opened or wanted(body) is None:
                continue
            if not _is_made_anew(body):
                found[kind, namespace, name] = _uid(body)
    return found


def lacking(
    pod: Target,
    since: float,
    objects: Objects,
    live: LivePods,
    known: Makers = MappingProxyType({}),
) -> int | None:
    """How many pods the maker of a pod that is gone is to make; None where that is not known.

    A maker that was made after `since`, in seconds since the epoch, is another of the same name.
    `live` counts the pods of a controller, by its namespace and UID, that run or wait. One of
    those `known` that is there no more makes none; a StatefulSet in place of another makes the same
    pods, of which nothing is known. Where the name fits several makers, the largest
    number counts.
    """
    found: list[int | None] = []
    for kind, name, wanted in _makers_by_name(pod.name):
        body = objects.get(kind, {}).get((pod.namespace, name))
        uid = known.get((kind, pod.namespace, name))
        # Where nothing at all is known of a kind, it may not be read for now.
        if uid is not None and kind in objects and _uid(body) != uid:
            if body is None or kind is not STATEFUL_SETS:
                found.append(0)
            continue
        if body is None or _made_at(body) > since:
            continue
        answer = _WantedPods(0, True) if "deletionTimestamp" in body["metadata"] else wanted(body)
        if answer is None:
            continue
        if answer.final and _is_made_anew(body):
            return None
        found.append(max(0, answer.pods - live(pod.namespace, _uid(body))))
    return max((number for number in found if number is not None), default=None)


def to_come(pod: PodSeen, objects: Objects, live: LivePods) -> int | None:
    """How many pods the maker of a pod that is there is to make still; None where unknown."""
    for kind, name, wanted in _makers_by_name(pod.pod.name):
        body = objects.get(kind, {}).get((pod.pod.namespace, name))
        if body is not None and body["metadata"].get("uid") == pod.controller:
            answer, there = wanted(body), live(pod.pod.namespace, pod.controller)
            return None if answer is None else max(0, answer.pods - there)
    return None


def is_any_bare(pods: Iterable[PodName], cache: ClusterCache, dead: Container[str] = ()) -> bool:
    """Whether one of these that lives would be made anew by no controller, once it is evicted."""
    seen = (cache.named(*pod) for pod in pods)
    return any(one and one.node and one.node not in dead and not one.controller for one in seen)


def _makers_by_name(pod: str) -> Iterator[tuple[Kind, str, Callable[[Body], _WantedPods | None]]]:
    """What could have made a pod of that name, and how to read it."""
    if match := _OF_AN_INDEX.fullmatch(pod):
        yield JOBS, match[1], lambda body: _of_job(body, True)
    if match := _GENERATED.fullmatch(pod):
        yield JOBS, match[1], lambda body: _of_job(body, False)
        yield REPLICA_SETS, match[1], _of_replicas
    if match := _NUMBERED.fullmatch(pod):
        yield STATEFUL_SETS, match[1], _of_replicas


def _of_job(body: Body, indexed: bool) -> _WantedPods | None:
    """How many pods a Job runs at once, by what has succeeded or failed for good."""
    spec, status = _mapping(body.get("spec")), _mapping(body.get("status"))
    if (spec.get("completionMode") == "Indexed") is not indexed:
        return None
    conditions = status.get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    true = {one.get("type") for one in map(_mapping, listed) if one.get("status") == "True"}
    if true & _ENDS or spec.get("suspend"):
        return _WantedPods(0, True)
    at_once, succeeded = _number(spec.get("parallelism"), 1), _number(status.get("succeeded"), 0)
    completions = spec.get("completions")
    if completions is None:
        return _WantedPods(0 if succeeded else at_once)
    left = _number(completions, 1) - succeeded - _indexes(status.get("failedIndexes"))
    return _WantedPods(min(at_once, left))


def _of_replicas(body: Body) -> _WantedPods:
    return _WantedPods(_number(_mapping(body.get("spec")).get("replicas"), 1))


def _is_made_anew(body: Body) -> bool:
    """Whether another controller may make the maker again, under the same name."""
    owners = body["metadata"].get("ownerReferences")
    listed = map(_mapping, owners if isinstance(owners, list) else [])
    return any(o.get("controller") and o.get("kind") not in _NOT_MADE_ANEW for o in listed)


def _indexes(text: Any) -> int:
    """How many indexes `1,3-5` names; what cannot be read names none."""
    count = 0
    for part in text.split(",") if isinstance(text, str) else ():
        if match := re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part):
            count += max(0, int(match[2] or match[1]) - int(match[1]) + 1)
    return count


def _uid(body: Body | None) -> str:
    return "" if body is None else str(body["metadata"].get("uid", ""))


def _mapping(value: Any) -> Body:
    return value if isinstance(value, dict) else {}


def _number(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _made_at(body: Body) -> float:
    """When it was made, in seconds since the epoch; never, where that cannot be read."""
    try:
        return datetime.fromisoformat(body["metadata"]["creationTimestamp"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return math.inf
