"""Which devices of a node a pod gets: the lowest numbers that nobody holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from k8s_bridge.ledger.book import Book
from k8s_bridge.ledger.pods import Pods, is_gone


def held_devices(book: Book, pods: Pods, nodes: Iterable[str]) -> dict[str, set[int]]:
    """Node -> the devices that entries of its page hold for pods that are not gone."""
    held: dict[str, set[int]] = {node: set() for node in nodes}
    for name in {book.page_of(node) for node in held} - {None}:
        page = book.page(name or "")
        for entry in page.entries if page else ():
            for member in entry.members:
                if member.node in held and not is_gone(pods, member):
                    held[member.node].update(member.devices)
    return held


def chosen(
    free: Mapping[str, Sequence[int]], wanted: Sequence[tuple[str, int]]
) -> list[tuple[int, ...]]:
    """For each (node, count), devices of that node; none where too few are known to be free.

    `free` gives each node's free devices in order. The device plugin of a node decides by
    itself where a pod comes without numbers.
    """
    left = {node: list(devices) for node, devices in free.items()}
    found: list[tuple[int, ...]] = []
    for node, count in wanted:
        devices = left.get(node, [])
        if count == 0 or len(devices) < count:
            found.append(())
            continue
        found.append(tuple(devices[:count]))
        del devices[:count]
    return found
