"""From a plan to what is committed, as far as it is still true once the solver has answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from k8s_bridge.ledger.book import Book
from k8s_bridge.ledger.commit import Dropped, Wanted
from k8s_bridge.ledger.devices import chosen, held_devices
from k8s_bridge.ledger.pods import PodSeen
from k8s_bridge.ledger.records import Member
from k8s_bridge.observed import Observed
from model.gang import Gang, GangKey
from model.plan import Placement, Plan
from model.resources import Resources, fits, given_back, minus
from model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Wants:
    """What to commit, and the gangs for which the plan came too late."""

    wanted: tuple[Wanted, ...]
    late: tuple[Dropped, ...]


Kept = Mapping[GangKey, Sequence[tuple[str, Resources]]]
"""Room that is kept on nodes for members of a gang."""


def wants(
    plan: Plan, solved: Snapshot, observed: Observed, book: Book, kept: Kept = MappingProxyType({})
) -> Wants:
    """The placements of `plan`, made for `solved`, that still hold for what is observed now.

    Room that is `kept` is for the gang that it is kept for.
    """
    gangs = {gang.key: gang for gang in solved.gangs}
    now = observed.reading().snapshot
    present = {gang.key: gang for gang in now.gangs}
    room = _Room(now, kept)
    good: list[tuple[Placement, list[PodSeen]]] = []
    late: list[Dropped] = []
    for placement in plan.placements:
        pods, why = _pods(placement, observed)
        if not why and present.get(placement.gang) != gangs[placement.gang]:
            why = f"gang {placement.gang} has changed meanwhile"
        why = why or _changed_nodes(placement, solved, now)
        why = why or room.take(placement, gangs[placement.gang])
        if why:
            late.append(Dropped(placement.gang, why, conflict=True))
        else:
            good.append((placement, pods))
    return Wants(tuple(_with_devices(good, gangs.values(), observed, book)), tuple(late))


def _pods(placement: Placement, observed: Observed) -> tuple[list[PodSeen], str]:
    """The pods of a placement as they are now, and why they cannot be bound any more."""
    found = []
    for name, node in placement.pods:
        seen = observed.named(placement.gang.namespace, name)
        if seen is None or seen.finished or seen.deleting:
            return [], f"pod {placement.gang.namespace}/{name} has gone meanwhile"
        if seen.node:
            return [], f"pod {seen.pod} was bound to {seen.node} meanwhile"
        if not observed.usable(node):
            return [], f"node {node} is no longer ready"
        found.append(seen)
    return found, ""


def _changed_nodes(placement: Placement, solved: Snapshot, now: Snapshot) -> str:
    """Which node of a placement is not what it was planned for: cordoned, relabelled, made anew."""
    for _, node in placement.pods:
        if now.fabric.nodes.get(node) != solved.fabric.nodes[node]:
            return f"node {node} has changed meanwhile"
    return ""


class _Room:
    """What is free on the nodes now; others may have taken some while the solver ran."""

    def __init__(self, snapshot: Snapshot, kept: Kept) -> None:
        self._free: dict[str, Resources] = dict(snapshot.free)
        self._kept = kept
        for seats in kept.values():
            for node, request in seats:
                if node in self._free:
                    self._free[node] = minus(self._free[node], request)

    def take(self, placement: Placement, gang: Gang) -> str:
        """Take room for a gang, what is kept for it first; why there is too little of it."""
        for node, request in self._kept.get(gang.key, ()):
            if node in self._free:
                self._free[node] = given_back(self._free[node], request)
        requests = {pod: role.request for role in gang.roles for pod in role.pods}
        left: dict[str, Resources] = {}
        for pod, node in placement.pods:
            free = left.get(node) or self._free.get(node)
            if free is None:
                return f"node {node} is gone"
            if not fits(free, requests[pod]):
                return f"others have taken room on node {node} meanwhile"
            left[node] = minus(free, requests[pod])
        self._free.update(left)
        return ""


def _with_devices(
    placed: list[tuple[Placement, list[PodSeen]]],
    gangs: Iterable[Gang],
    observed: Observed,
    book: Book,
) -> Iterator[Wanted]:
    """Members with the numbers of their devices, where it is known which are free."""
    gpus = {
        (gang.key, pod): role.request.gpus
        for gang in gangs
        for role in gang.roles
        for pod in role.pods
    }
    nodes = {node for placement, _ in placed for _, node in placement.pods}
    free = _free_devices(nodes, observed, book)
    asked = [
        (node, gpus[placement.gang, pod]) for placement, _ in placed for pod, node in placement.pods
    ]
    devices = iter(chosen(free, asked))
    for placement, pods in placed:
        members = tuple(
            Member(seen.pod, node, next(devices))
            for seen, (_, node) in zip(pods, placement.pods, strict=True)
        )
        yield Wanted(placement.gang, members)


def _free_devices(nodes: set[str], observed: Observed, book: Book) -> dict[str, list[int]]:
    """Node -> free device numbers; nodes where somebody holds GPUs without numbers are left out."""
    held = held_devices(book, observed, nodes)
    snapshot = observed.reading().snapshot
    known: dict[str, int] = {node: len(devices) for node, devices in held.items()}
    free = {}
    for node in nodes:
        there = snapshot.fabric.nodes.get(node)
        if there is None:
            continue
        total = there.allocatable.gpus
        used = total - snapshot.free[node].gpus
        if used <= known[node]:
            free[node] = [one for one in range(total) if one not in held[node]]
    return free
