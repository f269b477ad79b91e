"""No disruption budget is broken by an eviction of ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.history import pods
from tests.history.audit import Request
from tests.history.history import History
from tests.history.replay import Change, replay

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Budgets:
    """Counts the ready pods of a budget when one that we evicted begins to die.

    The API server judges an eviction some time before the pod begins to die. Where others write a
    budget between the request and the answer, it may have judged by what that demanded before.
    """

    name: str = "disruption budgets are kept"

    def breaches(self, history: History) -> list[str]:
        """Every eviction of ours after which fewer pods were ready than a budget demands."""
        evictions = {
            request.evicts: request
            for request in history.our_requests
            if request.is_eviction and request.ok
        }
        writes = [one for one in history.requests if _writes_budget(one)]
        found: list[str] = []
        demanded: dict[tuple[str, str], Body] = {}
        for change in replay(history):
            before = change.before
            if change.version.kind == "budgets" and before is not None:
                # Its status is written far more often than what it demands.
                is_other = before["spec"] != change.version.body["spec"]
                demanded |= {_key(before): before["spec"]} if is_other else {}
            eviction = evictions.get(pods.uid(change.version.body))
            if eviction is not None and _begins_to_die(change):
                meanwhile = {
                    (one.namespace, one.name)
                    for one in writes
                    if one.received < eviction.answered and one.answered > eviction.received
                }
                found += _broken(
                    change, {key: demanded[key] for key in meanwhile & demanded.keys()}
                )
        return found


def _writes_budget(request: Request) -> bool:
    """Whether it has changed what a budget demands."""
    about = request.resource, request.subresource, request.dry_run
    writes = request.ok and request.verb in ("update", "patch")
    return writes and about == ("poddisruptionbudgets", "", False)


def _begins_to_die(change: Change) -> bool:
    """Whether a pod that was ready is now deleted, at once or with grace."""
    version, before = change.version, change.before
    return (
        version.kind == "pods"
        and before is not None
        and pods.ready(before)
        and not pods.dying(before)
        and (version.deleted or pods.dying(version.body))
    )


def _key(budget: Body) -> tuple[str, str]:
    metadata = budget["metadata"]
    return metadata["namespace"], metadata["name"]


def _broken(change: Change, before: Mapping[tuple[str, str], Body]) -> Iterable[str]:
    """What is broken; `before` is what budgets demanded that were written meanwhile."""
    pod = change.version.body
    for budget in change.state.budgets.values():
        if budget["metadata"]["namespace"] != pod["metadata"]["namespace"]:
            continue
        if not _selects(budget, pod):
            continue
        peers = [one for one in change.state.pods.values() if _peers(budget, one)]
        healthy = sum(pods.ready(one) and not pods.dying(one) for one in peers)
        count = len(peers) + change.version.deleted
        needed = _needed(budget["spec"], count)
        if (spec := before.get(_key(budget))) is not None:
            needed = min(needed, _needed(spec, count))
        if healthy < needed:
            yield (
                f"revision {change.version.revision}: {pods.named(pod)} was evicted, and budget "
                f"{budget['metadata']['name']} has {healthy} ready pods of {needed}"
            )


def _peers(budget: Body, pod: Body) -> bool:
    same = budget["metadata"]["namespace"] == pod["metadata"]["namespace"]
    return same and _selects(budget, pod) and not pods.ended(pod)


def _selects(budget: Body, pod: Body) -> bool:
    """Whether the budget's `matchLabels` select the pod; the scenarios use nothing else."""
    wanted = (budget["spec"].get("selector") or {}).get("matchLabels") or {}
    labels = pod["metadata"].get("labels") or {}
    return bool(wanted) and all(labels.get(key) == value for key, value in wanted.items())


def _needed(spec: Body, count: int) -> int:
    if "minAvailable" in spec:
        return _amount(spec["minAvailable"], count)
    return count - _amount(spec.get("maxUnavailable", 0), count)


def _amount(given: int | str, count: int) -> int:
    """A number or a percentage of `count`, rounded up as the API does."""
    if isinstance(given, str) and given.endswith("%"):
        return math.ceil(int(given[:-1]) * count / 100)
    return int(given)
