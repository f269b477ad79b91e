"""Pod makers: the Job, ReplicaSet or StatefulSet that makes a pod anew, and how many it is to make.

A controller takes its time: that of Jobs waits for minutes after several failures. It is found by
the name of the pod, which is gone by then, and which who leads now may never have seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import JOBS, PODS, REPLICA_SETS, STATEFUL_SETS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Target

LONGEST_STEM = 58
"""What a name that the API server generates keeps of the one that it is generated from."""

_ENDS = frozenset({"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"})
"""Conditions of a Job that makes no pods any more."""


class PodMakers:
    """The makers in `objects`: kind -> (namespace, name) -> object, as watched."""

    def __init__(self, objects: Mapping[Kind, Mapping[tuple[str, str], Body]]) -> None:
        self._by_namespace: dict[str, list[tuple[str, Kind, Body]]] = defaultdict(list)
        for kind in _WANTED:
            for (namespace, name), body in objects.get(kind, {}).items():
                self._by_namespace[namespace].append((name, kind, body))
        for makers in self._by_namespace.values():
            # The longest name is its own: `train-0` makes `train-0-x`, and `train` might.
            makers.sort(key=lambda maker: -len(maker[0]))
        self._live = Counter(filter(None, map(_maker_of_live, objects.get(PODS, {}).values())))

    def lacking(self, pod: Target, since: float) -> int | None:
        """How many pods the maker of a pod that is gone is to make; None where none is known.

        One that was made after `since`, in seconds since the epoch, is another of the same name.
        """
        for name, kind, body in self._by_namespace.get(pod.namespace, ()):
            metadata = body["metadata"]
            if pod.name.startswith(f"{name}-"[:LONGEST_STEM]) and _made_at(body) <= since:
                if "deletionTimestamp" in metadata:
                    return 0
                return max(0, _WANTED[kind](body) - self._live[str(metadata.get("uid", ""))])
        return None


def _of_job(body: Body) -> int:
    """How many pods a Job runs at once, by what has succeeded or failed for good."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    conditions = status.get("conditions") or ()
    ended = any(one.get("type") in _ENDS and one.get("status") == "True" for one in conditions)
    if ended or spec.get("suspend"):
        return 0
    at_once, succeeded = _number(spec.get("parallelism"), 1), _number(status.get("succeeded"), 0)
    completions = spec.get("completions")
    if completions is None:
        return 0 if succeeded else at_once
    failed = _indexes(str(status.get("failedIndexes") or ""))
    return min(at_once, _number(completions, 1) - succeeded - failed)


def _of_replicas(body: Body) -> int:
    return _number((body.get("spec") or {}).get("replicas"), 1)


_WANTED: dict[Kind, Callable[[Body], int]] = {
    JOBS: _of_job,
    REPLICA_SETS: _of_replicas,
    STATEFUL_SETS: _of_replicas,
}
"""How many pods there should be of one, by its kind."""


def _maker_of_live(pod: Body) -> str:
    """The UID of the controller of a pod that runs or waits, "" of any other."""
    metadata = pod["metadata"]
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    if ended or "deletionTimestamp" in metadata:
        return ""
    owners = metadata.get("ownerReferences") or ()
    return next((str(one.get("uid", "")) for one in owners if one.get("controller")), "")


def _indexes(text: str) -> int:
    """How many indexes `1,3-5` names."""
    ends = (part.partition("-") for part in text.split(",") if part)
    return sum(int(last or first) - int(first) + 1 for first, _, last in ends)


def _number(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _made_at(body: Body) -> float:
    text = body["metadata"].get("creationTimestamp")
    return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else 0.0
