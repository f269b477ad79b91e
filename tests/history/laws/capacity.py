"""No node is given more GPUs than it has, at any version."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from tests.history import pods
from tests.history.history import History
from tests.history.replay import Change, replay

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Capacity:
    """Counts GPUs asked for by the pods that a node holds whenever one of ours is bound.

    Of other people's pods those count that were bound `notice` seconds before, for nobody can
    plan around what has not happened yet; so do nodes: what one offered within that time.
    """

    notice: float = 10.0
    name: str = "no more GPUs than a node has"

    def breaches(self, history: History) -> list[str]:
        """Every binding of ours that took a node above what it offers."""
        found = []
        bound_at: dict[str, float] = {}
        offers: dict[str, list[tuple[float, int]]] = defaultdict(list)
        on: dict[str, dict[str, Body]] = defaultdict(dict)
        for change in replay(history):
            version = change.version
            if version.kind == "nodes":
                offered = 0 if version.deleted else _offered(version.body)
                offers[version.body["metadata"]["name"]].append((version.seen, offered))
            if version.kind != "pods":
                continue
            uid, node = pods.uid(version.body), pods.node(version.body)
            if version.deleted or not pods.holds(version.body):
                on[node].pop(uid, None)
                continue
            on[node][uid] = version.body
            if not _binds(change):
                continue
            bound_at[uid] = version.seen
            if not history.is_ours(version.body):
                continue
            asked = sum(
                pods.gpus(pod)
                for other, pod in on[node].items()
                if history.is_ours(pod) or bound_at.get(other, 0.0) <= version.seen - self.notice
            )
            room = _lately(offers[node], version.seen - self.notice)
            if asked > room:
                found.append(
                    f"revision {version.revision}: with {pods.named(version.body)} node {node} "
                    f"holds {asked} GPUs of {room}"
                )
        return found


def _binds(change: Change) -> bool:
    return change.before is None or not pods.node(change.before)


def _offered(node: Body) -> int:
    return int(((node.get("status") or {}).get("allocatable") or {}).get(pods.GPU, 0))


def _lately(offers: list[tuple[float, int]], since: float) -> int:
    """The most that was on offer at some moment after `since`; 0 where nothing ever was."""
    before = [room for moment, room in offers if moment <= since][-1:]
    after = [room for moment, room in offers if moment > since]
    return max([*before, *after], default=0)
