"""Which devices are free on nodes, by what the pages say is held."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.ledger.book import Book
from fourleaf.k8s_bridge.ledger.devices import Numbers, held_devices
from fourleaf.k8s_bridge.ledger.pods import Pods
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.names import numbers_of
from fourleaf.model.resources import free_devices
from fourleaf.model.snapshot import Snapshot


def free_on(
    nodes: Iterable[str], snapshot: Snapshot, book: Book, pods: Pods
) -> dict[str, FreeDevices]:
    """Node -> its free devices; left out where somebody holds some without numbers."""
    free = {}
    for node, recorded in held_devices(book, pods, nodes, _numbers(snapshot)).items():
        there = snapshot.fabric.nodes.get(node)
        if there is None:
            continue
        # What a claim holds is taken, whoever made it.
        claimed = snapshot.held.get(node, ()) if there.device_names else ()
        held = recorded.union(claimed)
        if there.allocatable.gpus - snapshot.free[node].gpus <= len(held):
            free[node] = free_devices(there.allocatable).without(sorted(held))
    return free


def _numbers(snapshot: Snapshot) -> Numbers:
    """How the devices of a member are numbered now, by their names where they are claimed."""

    def numbers(member: Member) -> tuple[int, ...]:
        if not member.claims:
            return member.devices
        node = snapshot.fabric.nodes.get(member.node)
        names = [name for one in member.claims for _, name in one.devices]
        return numbers_of(names, node.device_names if node else ())

    return numbers
