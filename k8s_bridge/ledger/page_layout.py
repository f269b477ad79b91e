"""Which page lists which nodes, and how nodes move from one page to another.

A node is listed by one page at a time: it is taken off one before another lists it. A node
stays where it is while a commit that holds it is not settled, for that is recorded there.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.ledger.compaction import is_settled, tidied
from fourleaf.k8s_bridge.ledger.formats.codec import entry_size
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_gone
from fourleaf.k8s_bridge.ledger.records import Entry, Member, Page
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.node import Node

DIGEST_DIGITS = 32
"""Of SHA-256 in the name of a commit: no tenant finds another gang of the same 128 bits."""
POD_BYTES = 400
"""What a pod takes on a page, with a name of the usual length."""
PAGE_BYTES = 200 * 1024
"""What a page may take when all its nodes are full of pods."""
FEW_PODS = 64
"""Pods on the pages of a leaf that say nothing yet about how large its pods are."""
POD_STEP_BYTES = 200
"""Bytes."""


def laid_out(fabric: Fabric, ledger: Ledger | None = None) -> list[Page]:
    """Empty pages for all nodes of `fabric`: one a leaf, more where one might grow too large.

    Where `ledger` shows that the pods of a leaf have long names, its pages are the smaller.
    """
    sizes = {} if ledger is None else _pod_sizes(ledger)
    pages = []
    for leaf in fabric.leaves:
        for part, nodes in enumerate(_parts(leaf.nodes, sizes.get(leaf.name, POD_BYTES))):
            pages.append(Page(leaf.name, part, nodes))
    return pages


def _pod_sizes(ledger: Ledger) -> dict[str, int]:
    """Leaf -> the bytes that a pod takes on its pages, in steps, so that layouts last."""
    entries: dict[str, list[Entry]] = {}
    for page in ledger.pages:
        entries.setdefault(page.leaf, []).extend(page.entries)
    found = {}
    for leaf, held in entries.items():
        count = sum(len(entry.members) for entry in held)
        if count >= FEW_PODS:
            mean = sum(map(entry_size, held)) / count
            found[leaf] = max(POD_BYTES, POD_STEP_BYTES * math.ceil(mean / POD_STEP_BYTES))
    return found


def _parts(nodes: Sequence[Node], pod_bytes: int) -> Iterator[tuple[str, ...]]:
    names: list[str] = []
    size = 0
    for node in nodes:
        room = pod_bytes * node.allocatable.pods
        if names and size + room > PAGE_BYTES:
            yield tuple(names)
            names, size = [], 0
        names.append(node.name)
        size += room
    if names:
        yield tuple(names)


def missing(layout: Sequence[Page], ledger: Ledger) -> list[Page]:
    """The pages of `layout` that do not exist, empty.

    A page is made without nodes, and takes them up under its version: a request that makes it
    may arrive when another leader has long given its nodes to another page.
    """
    names = {page_name(page.leaf, page.part): page for page in layout}
    absent = (p for n, p in names.items() if ledger.page(n) is None and n not in ledger.sealed)
    return [replace(page, nodes=()) for page in absent]


def relaid(layout: Sequence[Page], ledger: Ledger, pods: PodLister) -> Iterator[list[Page]]:
    """The pages to write so that they list the nodes of `layout`, in rounds.

    First nodes leave the pages that should not list them, then others take them up, and with
    them the pods of ours on them that no entry holds. `ledger` must hold each round's writes
    before the next round is asked for. While a page does not even say which nodes it lists, all
    stay where they are.
    """
    if ledger.sealed.opaque_page:
        return
    yield list(_without_strangers(layout, ledger, pods))
    yield list(_with_newcomers(layout, ledger, pods))


def abandoned(layout: Sequence[Page], ledger: Ledger) -> list[Page]:
    """The pages that list no node, hold nothing, and are not of `layout`.

    Who lists such a leaf again has to create its page, which succeeds for one of all who try.
    """
    names = {page_name(page.leaf, page.part) for page in layout}
    return [
        page
        for page in ledger.pages
        if not page.nodes and not page.entries and page_name(page.leaf, page.part) not in names
    ]


def _without_strangers(layout: Sequence[Page], ledger: Ledger, pods: PodLister) -> Iterator[Page]:
    home = {node: page_name(page.leaf, page.part) for page in layout for node in page.nodes}
    for page in ledger.pages:
        name = page_name(page.leaf, page.part)
        leaving = {
            node
            for node in page.nodes
            if home.get(node) != name
            and _may_leave(node, page, ledger, pods, gone=node not in home)
        }
        if leaving:
            yield _less(page, leaving)


def _may_leave(node: str, page: Page, ledger: Ledger, pods: PodLister, gone: bool) -> bool:
    """Whether all commits on `node` are settled; where it moves to no other page, are over.

    A commit that may still go back must find all its members in its records.
    """
    for entry in page.entries:
        if any(member.node == node and not is_gone(pods, member) for member in entry.members):
            commit = ledger.commit(entry.commit)
            if gone or commit is None or not is_settled(commit, pods):
                return False
    return True


def _less(page: Page, leaving: set[str]) -> Page:
    entries = []
    for entry in page.entries:
        members = tuple(member for member in entry.members if member.node not in leaving)
        if members:
            entries.append(replace(entry, members=members))
    nodes = tuple(node for node in page.nodes if node not in leaving)
    return replace(page, nodes=nodes, entries=tuple(entries))


def _with_newcomers(layout: Sequence[Page], ledger: Ledger, pods: PodLister) -> Iterator[Page]:
    for page in layout:
        old = ledger.page(page_name(page.leaf, page.part))
        if old is None:
            continue
        new = tuple(node for node in page.nodes if ledger.page_of(node) is None)
        kept = tidied(old, ledger, pods)
        nodes = (*old.nodes, *new)
        adopted = _adopted(nodes, ledger, pods)
        if new or adopted:
            yield replace(kept, nodes=nodes, entries=_joined(kept.entries, adopted))


def _adopted(nodes: Iterable[str], ledger: Ledger, pods: PodLister) -> list[Entry]:
    """Entries for pods of ours that run on these nodes and that no entry holds."""
    found: dict[GangKey, list[Member]] = {}
    for node in nodes:
        for gang, member in pods.running_on(node):
            if ledger.commit_of(member.pod.uid) is None:
                found.setdefault(gang, []).append(member)
    return [Entry(_adoption(gang), gang, tuple(members)) for gang, members in found.items()]


def _adoption(gang: GangKey) -> str:
    return "a" + hashlib.sha256(str(gang).encode()).hexdigest()[:DIGEST_DIGITS]


def _joined(kept: Sequence[Entry], adopted: Sequence[Entry]) -> tuple[Entry, ...]:
    """Both, with one entry for each commit."""
    entries = {entry.commit: entry for entry in kept}
    for entry in adopted:
        old = entries.get(entry.commit)
        known = {member.pod.uid: member for member in old.members} if old else {}
        known |= {member.pod.uid: member for member in entry.members}
        entries[entry.commit] = replace(entry, members=tuple(known.values()))
    return tuple(entries.values())
