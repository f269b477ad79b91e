"""Which devices are free on nodes, by what the pages say is held."""

from __future__ import annotations

from collections.abc import Iterable

from k8s_bridge.ledger.book import Book
from k8s_bridge.ledger.devices import held_devices
from k8s_bridge.ledger.pods import Pods
from model.devices.free import FreeDevices
from model.resources import free_devices
from model.snapshot import Snapshot


def free_on(
    nodes: Iterable[str], snapshot: Snapshot, book: Book, pods: Pods
) -> dict[str, FreeDevices]:
    """Node -> its free devices; left out where somebody holds some without numbers."""
    free = {}
    for node, held in held_devices(book, pods, nodes).items():
        there = snapshot.fabric.nodes.get(node)
        if there is not None and there.allocatable.gpus - snapshot.free[node].gpus <= len(held):
            free[node] = free_devices(there.allocatable).without(sorted(held))
    return free
