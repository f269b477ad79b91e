"""Which devices the pages give to somebody."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fourleaf.k8s_bridge.ledger.book import Book
from fourleaf.k8s_bridge.ledger.pods import Pods, is_gone
from fourleaf.k8s_bridge.ledger.records import Member

Numbers = Callable[[Member], tuple[int, ...]]
"""The devices of a member by their numbers."""


def as_recorded(member: Member) -> tuple[int, ...]:
    """The numbers that stand in the record."""
    return member.devices


def held_devices(
    book: Book, pods: Pods, nodes: Iterable[str], numbers: Numbers = as_recorded
) -> dict[str, set[int]]:
    """Node -> the devices that entries of its page hold for pods that are not gone."""
    held: dict[str, set[int]] = {node: set() for node in nodes}
    for name in {book.page_of(node) for node in held} - {None}:
        page = book.page(name or "")
        for entry in page.entries if page else ():
            for member in entry.members:
                if member.node in held and not is_gone(pods, member):
                    held[member.node].update(numbers(member))
    return held
