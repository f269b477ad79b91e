"""Nodes by what they say of themselves: which of them a constraint selects, without asking each.

A tenant writes constraints of 99 conditions of 19 values, each pod another one. To hold all of them
against each of 3,000 nodes takes 0.15 s a pod; to look the values up takes less than a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress

from fourleaf.model.node import Node, Taint
from fourleaf.model.node_constraint import (
    NODE_NAME_FIELD,
    NodeConstraint,
    Operator,
    Requirement,
    number_in,
)
from fourleaf.model.readers.pods.neighbours import Neighbours

VALUES_A_COMPARISON = 2
"""Values of conditions that are looked up in the time of a comparison, which is 0.25 us."""

NUMBERS_A_COMPARISON = 4
"""Numbers of nodes that are held against one of a condition in that time."""

_Mask = int
"""Some of the nodes: bit n is set where the node that comes n-th is one of them."""

_Values = dict[str, _Mask]


class NodeIndex:
    """Nodes by labels, names and taints. To be made anew once any of them changes.

    What it takes is counted as comparisons of `running`, as the waiting pods ask for it.
    """

    def __init__(self, running: Neighbours, nodes: Iterable[Node]) -> None:
        self._running = running
        self._nodes = list(nodes)
        self._all: _Mask = (1 << len(self._nodes)) - 1
        self._by_key: dict[tuple[str, bool], _Values] = {}
        self._having: dict[tuple[str, bool], _Mask] = {}
        self._numbers: dict[tuple[str, bool], list[tuple[int, _Mask]]] = {}
        self._tainted: dict[tuple[Taint, ...], _Mask] = {}
        # A tenant names any number of keys, and nodes have few: no others are looked for.
        self._keys = set[str]().union(*(node.labels for node in self._nodes))

    def of(self, mask: _Mask) -> Iterator[Node]:
        """These nodes, in order."""
        return compress(self._nodes, map("1".__eq__, bin(mask)[:1:-1]))

    def with_keys(self, keys: Iterable[str]) -> _Mask:
        """The nodes that have all of these labels."""
        found = self._all
        for key in keys:
            found &= self._with(key, is_field=False)
        return found

    def selected(self, constraint: NodeConstraint) -> _Mask:
        """The nodes that its nodeSelector and its required affinity accept; features aside."""
        self._running.count(constraint.conditions - len(constraint.tolerations))
        found = self._all
        for key, value in constraint.selector:
            found &= self._values(key, is_field=False).get(value, 0)
        if not constraint.affinity:
            return found
        some = 0
        for term in constraint.affinity:
            some |= self._meeting(term)
        return found & some

    def tolerated(self, constraint: NodeConstraint) -> _Mask:
        """The nodes without a taint that forbids scheduling, but for those that it tolerates."""
        if not self._tainted:
            for mask, node in self._numbered():
                self._tainted[node.taints] = self._tainted.get(node.taints, 0) | mask
        self._running.count(len(self._tainted) * (1 + len(constraint.tolerations)))
        found = self._all
        for taints, mask in self._tainted.items():
            if taints and constraint.untolerated(taints):
                found &= ~mask
        return found

    def _numbered(self) -> Iterator[tuple[_Mask, Node]]:
        return ((1 << n, node) for n, node in enumerate(self._nodes))

    def _meeting(self, term: tuple[Requirement, ...]) -> _Mask:
        """The nodes that meet all conditions of a term; none where it has none."""
        found = self._all if term else 0
        for one in term:
            found &= self._holding(one)
        return found

    def _holding(self, one: Requirement) -> _Mask:
        match one.operator:
            case Operator.IN:
                return self._among(one)
            case Operator.NOT_IN:
                return self._all & ~self._among(one)
            case Operator.EXISTS:
                return self._with(one.key, one.is_field)
            case Operator.DOES_NOT_EXIST:
                return self._all & ~self._with(one.key, one.is_field)
            case Operator.GT | Operator.LT:
                return self._beyond(one)

    def _among(self, one: Requirement) -> _Mask:
        self._running.count(len(one.values) // VALUES_A_COMPARISON)
        there = self._values(one.key, one.is_field)
        found = 0
        for value in one.values:
            if value in there:
                found |= there[value]
        return found

    def _beyond(self, one: Requirement) -> _Mask:
        place = one.key, one.is_field
        if place not in self._numbers:
            there = self._values(*place)
            read = ((number_in(value), mask) for value, mask in there.items())
            self._numbers[place] = [(n, mask) for n, mask in read if n is not None]
        some = self._numbers[place]
        self._running.count(len(some) // NUMBERS_A_COMPARISON)
        limit = number_in(one.values[0] if len(one.values) == 1 else None)
        found = 0
        if limit is not None:
            above = one.operator is Operator.GT
            for number, mask in some:
                if number > limit if above else number < limit:
                    found |= mask
        return found

    def _with(self, key: str, is_field: bool) -> _Mask:
        place = key, is_field
        if place not in self._having:
            there = self._values(key, is_field)
            found = 0
            for mask in there.values():
                found |= mask
            if not there:
                return found
            self._having[place] = found
        return self._having[place]

    def _values(self, key: str, is_field: bool) -> _Values:
        """Value of a label or field -> the nodes that have it."""
        place = key, is_field
        if place in self._by_key:
            return self._by_key[place]
        if key != NODE_NAME_FIELD if is_field else key not in self._keys:
            return {}
        there: _Values = {}
        for mask, node in self._numbered():
            value = node.name if is_field else node.labels.get(key)
            if value is not None:
                there[value] = there.get(value, 0) | mask
        self._by_key[place] = there
        return there
