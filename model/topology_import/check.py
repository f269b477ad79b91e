"""What is odd about a described fabric as a place for gangs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from fourleaf.model.readers.topology.findings import NOTES, Finding, FindingKind, finding
from fourleaf.model.topology import natural_key
from fourleaf.model.topology_import.description import Description

SMALL_GANG = 4
"""Nodes of the gang that `LEAF_TOO_SMALL` is about."""
WIDEST_GAP = 100
"""Numbers further apart than this are identities, and no numbering with a gap."""
_NUMBER = re.compile(r"[0-9]+")
_MADE_UP = re.compile(r"-and-[0-9]+-more$")
"""Names of groups, whose numbers are those of their first switch alone."""

LeafKey = tuple[str, str, str]
"""Core, spine and name of a leaf."""


def check_description(one: Description) -> tuple[Finding, ...]:
    """What its reader found and what its shape tells, notes first."""
    sizes = Counter((p.core, p.spine, p.leaf) for p in one.positions)
    spines = _spines(sizes)
    found = (
        *one.findings,
        *_names_twice(sizes),
        *_uneven(sizes),
        *_too_small(spines, sizes),
        *_order_differs(one),
        *finding(FindingKind.ORDER_GAP, _gaps(spines)),
        *(finding(FindingKind.ISLANDS, one.islands) if len(one.islands) > 1 else ()),
    )
    return tuple(sorted(found, key=lambda each: each.kind not in NOTES))


def _spines(sizes: Counter[LeafKey]) -> list[list[LeafKey]]:
    """The leaves of each spine in the order that makes them adjacent."""
    found: dict[tuple[str, str], list[LeafKey]] = {}
    for leaf in sorted(sizes, key=lambda key: [natural_key(part) for part in key]):
        found.setdefault(leaf[:2], []).append(leaf)
    return list(found.values())


def _names_twice(sizes: Counter[LeafKey]) -> tuple[Finding, ...]:
    counts = Counter(leaf for _, _, leaf in sizes)
    return finding(FindingKind.LEAF_NAME_TWICE, (n for n, count in counts.items() if count > 1))


def _uneven(sizes: Counter[LeafKey]) -> tuple[Finding, ...]:
    if not sizes:
        return ()
    counts = Counter(sizes.values())
    usual = max(counts, key=lambda size: (counts[size], size))
    names = [f"{leaf} ({size})" for (_, _, leaf), size in sizes.items() if size != usual]
    return finding(FindingKind.UNEVEN_LEAVES, names, usual=usual)


def _too_small(spines: list[list[LeafKey]], sizes: Counter[LeafKey]) -> tuple[Finding, ...]:
    """Leaves in no location of a gang of four: no window of the fewest leaves that hold it.

    That fewest is one number for the whole fabric (k of `docs/model.md`, section 4), so on a
    fabric with leaves of 4, one of 3 is never used by gangs of 4.
    """
    most = max((len(leaves) for leaves in spines), default=0)
    for length in range(1, min(most, SMALL_GANG) + 1):
        used = {
            leaf
            for leaves in spines
            for start in range(len(leaves) - length + 1)
            if sum(sizes[one] for one in leaves[start : start + length]) >= SMALL_GANG
            for leaf in leaves[start : start + length]
        }
        if used:
            names = [f"{leaf[2]} ({sizes[leaf]})" for leaf in sizes if leaf not in used]
            return finding(FindingKind.LEAF_TOO_SMALL, names, gang=SMALL_GANG, leaves=length)
    return ()


def _order_differs(one: Description) -> tuple[Finding, ...]:
    """Spines whose leaves the source lists in another order than the natural one."""
    by_spine: dict[str, list[str]] = {}
    for spine, leaf in one.listed:
        by_spine.setdefault(spine, []).append(leaf)
    names = []
    for leaves in by_spine.values():
        turned = next((pair for pair in pairwise(leaves) if _after(*pair)), None)
        if turned is not None:
            names.append(f"{turned[0]} before {turned[1]}")
    return finding(FindingKind.ORDER_DIFFERS, names)


def _after(one: str, other: str) -> bool:
    return natural_key(one) > natural_key(other)


def _gaps(spines: list[list[LeafKey]]) -> Iterator[str]:
    """Neighbours in natural order between whose numbers others are missing."""
    for leaves in spines:
        for (_, _, one), (_, _, other) in pairwise(leaves):
            made_up = _MADE_UP.search(one) or _MADE_UP.search(other)
            if made_up or _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
                continue
            numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
            steps = [int(b) - int(a) for a, b in numbers if a != b]
            if len(steps) == 1 and 1 < steps[0] <= WIDEST_GAP:
                yield f"{one} and {other}"
