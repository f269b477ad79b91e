"""The statuses that say why a gang waits: one for each of its pods that does not say so yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import Members, Patches
from fourleaf.k8s_bridge.reporting.recorder.queue_items import StatusPatch, target_of
from fourleaf.k8s_bridge.runtime.api_text import second

SCHEDULED = "PodScheduled"
UNSCHEDULABLE = "Unschedulable"
"""The reason that kubectl and the autoscalers look for."""

MOST_PODS_AT_ONCE = 1000
"""Pods of one gang, at most, whose statuses are worked out at once: all else waits meanwhile."""


@dataclass(frozen=True, slots=True)
class MemberPatches:
    """What is to be written to pods of a gang, by namespace and name.

    `seen` are the pods for which it is known; `is_whole` where these are all.
    """

    patches: Patches
    seen: Members
    is_whole: bool = True


def member_patches(
    pods: Members, text: str, now: float, known: MemberPatches | None = None
) -> MemberPatches:
    """What is to be written for `pods` to say `text`; `known` was worked out for the same text.

    Bodies are never changed: a pod that is the very same object as then needs no other patch.
    """
    patches, before = (dict(known.patches), known.seen) if known is not None else ({}, {})
    changed = [at for at, pod in pods.items() if at not in before or before[at] is not pod]
    late = set(changed[MOST_PODS_AT_ONCE:])
    for at in before.keys() - pods.keys() | late:
        patches.pop(at, None)
    for at in changed[:MOST_PODS_AT_ONCE]:
        patch = _patch(pods[at], text, now)
        if patch is None:
            patches.pop(at, None)
        else:
            patches[at] = patch
    seen = {at: pod for at, pod in pods.items() if at not in late} if late else pods
    return MemberPatches(patches, seen, not late)


def _patch(pod: Body | None, text: str, now: float) -> StatusPatch | None:
    if pod is None or not is_free(pod):
        return None
    status = with_condition(pod, text, now)
    return None if status is None else StatusPatch(PODS, target_of(pod), status)


def patches_of(pods: Iterable[Body], text: str, now: float) -> Iterator[StatusPatch]:
    """What is to be written to those pods that do not say `text` yet."""
    patches = (_patch(pod, text, now) for pod in pods)
    return (patch for patch in patches if patch is not None)


def is_free(pod: Body) -> bool:
    """Whether it is not bound, not going, and not held by gates of its own.

    The condition of a gated pod belongs to the API server.
    """
    spec = pod.get("spec") or {}
    held = spec.get("nodeName") or spec.get("schedulingGates")
    return not held and "deletionTimestamp" not in pod["metadata"]


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
