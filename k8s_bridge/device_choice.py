"""Which devices the pods of a plan get, by what the pages say is held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from k8s_bridge.ledger.book import Book
from k8s_bridge.ledger.devices import held_devices
from k8s_bridge.ledger.pods import Pods
from model.devices.choice import Ask
from model.devices.free import FreeDevices
from model.resources import free_devices
from model.snapshot import Snapshot

Seat = tuple[str, Ask]
"""A node, and what a pod there asks for."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The devices of each seat, in order; `short` are nodes that do not have what is demanded."""

    devices: tuple[tuple[int, ...], ...]
    short: frozenset[str]


def choose(seats: Sequence[Seat], snapshot: Snapshot, book: Book, pods: Pods) -> Choice:
    """Devices for all `seats` together.

    A pod gets none where nobody knows which are free, unless it demands some: then the node is
    short of them.
    """
    on_node: dict[str, list[int]] = {}
    for position, (node, (count, _)) in enumerate(seats):
        if count:
            on_node.setdefault(node, []).append(position)
    free = _free(on_node.keys(), snapshot, book, pods)
    found: list[tuple[int, ...]] = [()] * len(seats)
    short = set()
    for node, positions in on_node.items():
        asks = [seats[position][1] for position in positions]
        shares = free[node].shared_out(asks) if node in free else None
        if shares is not None:
            for position, share in zip(positions, shares, strict=True):
                found[position] = share
        elif any(demand is not None for _, demand in asks):
            short.add(node)
    return Choice(tuple(found), frozenset(short))


def _free(
    nodes: Iterable[str], snapshot: Snapshot, book: Book, pods: Pods
) -> dict[str, FreeDevices]:
    """Node -> its free devices; left out where somebody holds some without numbers."""
    free = {}
    for node, held in held_devices(book, pods, nodes).items():
        there = snapshot.fabric.nodes.get(node)
        if there is not None and there.allocatable.gpus - snapshot.free[node].gpus <= len(held):
            free[node] = free_devices(there.allocatable).without(sorted(held))
    return free
