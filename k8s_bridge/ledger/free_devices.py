"""Free devices: those that no page gives away."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_gone
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.names import numbers_of
from fourleaf.model.resources import free_devices
from fourleaf.model.snapshot import Snapshot

Numbers = Callable[[Member], tuple[int, ...]]
"""The devices of a member by their numbers."""


def as_recorded(member: Member) -> tuple[int, ...]:
    """The numbers that stand in the record."""
    return member.devices


def held_devices(
    ledger: Ledger, pods: PodLister, nodes: Iterable[str], numbers: Numbers = as_recorded
) -> dict[str, set[int]]:
    """Node -> the devices that entries of its page hold for pods that are not gone."""
    held: dict[str, set[int]] = {node: set() for node in nodes}
    for name in {ledger.page_of(node) for node in held} - {None}:
        page = ledger.page(name or "")
        for entry in page.entries if page else ():
            for member in entry.members:
                if member.node in held and not is_gone(pods, member):
                    held[member.node].update(numbers(member))
    return held


def free_on(
    nodes: Iterable[str], snapshot: Snapshot, ledger: Ledger, pods: PodLister
) -> dict[str, FreeDevices]:
    """Node -> its free devices; left out where some are held without numbers."""
    free = {}
    for node, recorded in held_devices(ledger, pods, nodes, _numbers(snapshot)).items():
        there = snapshot.fabric.nodes.get(node)
        if there is None:
            continue
        # What a claim holds is taken, whatever made it.
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
