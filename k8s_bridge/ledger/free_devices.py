"""Free devices: those that no page gives away."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_gone
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.names import DeviceName, numbers_of
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
    """Node -> the devices that entries of its page hold, or are about to, for pods not gone."""
    held: dict[str, set[int]] = {node: set() for node in nodes}
    for member in _present(ledger, pods, held):
        held[member.node].update(numbers(member))
    return held


def held_by_claims(ledger: Ledger, pods: PodLister, nodes: Collection[str]) -> set[DeviceName]:
    """The devices that claims of pods not gone hold on `nodes` by entries of pages, or soon."""
    return {name for member in _present(ledger, pods, nodes) for name in member.claimed}


def _present(ledger: Ledger, pods: PodLister, nodes: Collection[str]) -> Iterator[Member]:
    """The members that pages know on `nodes`, or are about to, and that are not gone."""
    pages = (ledger.page(name) for name in {ledger.page_of(node) for node in nodes} if name)
    known = (member for page in pages if page for entry in page.entries for member in entry.members)
    undecided = (member for node in nodes for member in ledger.undecided_on(node))
    for member in chain(known, undecided):
        if member.node in nodes and not is_gone(pods, member):
            yield member


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
        if snapshot.gpus_held(node) <= len(held):
            free[node] = free_devices(there.allocatable).without(sorted(held))
    return free


def _numbers(snapshot: Snapshot) -> Numbers:
    """How the devices of a member are numbered now, by their names where they are claimed."""

    def numbers(member: Member) -> tuple[int, ...]:
        node = snapshot.fabric.nodes.get(member.node)
        claimed = numbers_of(member.claimed, node.device_names if node and member.claims else ())
        return (*member.devices, *claimed)

    return numbers
