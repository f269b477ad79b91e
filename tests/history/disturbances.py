"""What others do to pods, nodes and disruption budgets, as far as a relocation hangs on it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from tests.history import pods
from tests.history.records import Relocation
from tests.history.replay import Change

Body = dict[str, Any]


def meddling(change: Change, is_member: bool, seats: Container[str]) -> Iterator[str]:
    """What others did to a member of the gang, or put onto one of its seats.

    The change is neither a binding nor an eviction of ours. What becomes of a pod that is ending
    anyway is none, nor are conditions, nor what we write down on it ourselves.
    """
    version, before = change.version, change.before
    pod = version.body
    came = bool(pods.node(pod)) and not (before and pods.node(before)) and not version.deleted
    if came and (is_member or pods.node(pod) in seats):
        yield f"others put {pods.named(pod)} onto {pods.node(pod)}"
    if before is None or not is_member or pods.dying(before) or pods.ended(before):
        return
    if version.deleted or pods.dying(pod):
        yield f"others deleted {pods.named(pod)}"
    elif pods.ended(pod):
        yield f"{pods.named(pod)} ended"
    elif _said(before) != _said(pod):
        yield f"others changed {pods.named(pod)}"


def changed_node(change: Change, one: Relocation) -> Iterator[str]:
    """What became of a node with a seat."""
    version, before = change.version, change.before
    name = version.body["metadata"]["name"]
    if name not in {seat.node for seat in one.seats} or before is None:
        return
    if version.deleted:
        yield f"node {name} was deleted"
    elif _offer(before) != _offer(version.body):
        yield f"node {name} changed"
    elif pods.ready(before) and not pods.ready(version.body):
        yield f"node {name} went not ready"


def changed_budget(change: Change, one: Relocation) -> Iterator[str]:
    """What became of a disruption budget where pods of the relocation are.

    Its status, which the disruption controller writes, is none of it.
    """
    version, before = change.version, change.before
    metadata = version.body["metadata"]
    spaces = {name.partition("/")[0] for name in (one.gang, *(x.pod for x in one.leavers))}
    same = before is not None and before.get("spec") == version.body.get("spec")
    if metadata["namespace"] in spaces and (version.deleted or not same):
        yield f"budget {metadata['namespace']}/{metadata['name']} changed"


def _said(pod: Body) -> tuple[Body, Body]:
    """The labels and annotations of a pod that are not ours."""
    metadata = pod["metadata"]
    annotations = metadata.get("annotations") or {}
    theirs = {key: value for key, value in annotations.items() if not key.startswith(pods.PREFIX)}
    return metadata.get("labels") or {}, theirs


def _offer(node: Body) -> tuple[Body, Body, Body]:
    """What a node is and has, without its heartbeats."""
    status = node.get("status") or {}
    return node["metadata"].get("labels") or {}, node["spec"], status.get("allocatable") or {}
