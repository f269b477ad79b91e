"""Which nodes a constraint admits, as bits: bit i stands for node i.

A condition is looked up by key and value, however many nodes there are: held against each node, the
conditions of one tenant's gangs had every solve on 1,000 nodes reach its limit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from fourleaf.model.node import Node, Taint
from fourleaf.model.node_constraint import (
    NODE_NAME_FIELD,
    NodeConstraint,
    Operator,
    Requirement,
    number_in,
)

K = TypeVar("K", bound=Hashable)

FEWEST_KEPT = 1 / 64
"""The share of all nodes from which on the bits of those with one value are kept."""


def bits_of(nodes: Iterable[int]) -> int:
    """The bits of nodes by number."""
    found = 0
    for i in nodes:
        found |= 1 << i
    return found


class _Values:
    """The nodes by what they say under one key; `None` where they say nothing."""

    def __init__(self, said: Sequence[str | None]) -> None:
        self._nodes: dict[str, list[int]] = {}
        for i, value in enumerate(said):
            if value is not None:
                self._nodes.setdefault(value, []).append(i)
        self._kept = {
            value: bits_of(nodes)
            for value, nodes in self._nodes.items()
            if len(nodes) > FEWEST_KEPT * len(said)
        }
        self.stated = bits_of(i for nodes in self._nodes.values() for i in nodes)
        """The nodes that say anything."""

    def having(self, values: Iterable[str]) -> int:
        """The nodes that say one of `values`."""
        found = 0
        for value in values:
            found |= self._kept.get(value) or bits_of(self._nodes.get(value, ()))
        return found

    def compared(self, one: Requirement) -> int:
        """The nodes whose integer is greater, or less, than the value of the requirement."""
        bound = number_in(one.values[0]) if len(one.values) == 1 else None
        if bound is None:
            return 0
        numbers, values = self._numbers
        if one.operator is Operator.GT:
            return self.having(values[bisect_right(numbers, bound) :])
        return self.having(values[: bisect_left(numbers, bound)])

    @cached_property
    def _numbers(self) -> tuple[list[int], list[str]]:
        """What is said that is an integer, in ascending order, and the text of each."""
        read = ((number_in(value), value) for value in self._nodes)
        found = sorted((number, value) for number, value in read if number is not None)
        return [number for number, _ in found], [value for _, value in found]


_NO_VALUES = _Values(())


class LabelIndex:
    """The nodes of a fabric by what their labels, features and taints say."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self.every = (1 << len(nodes)) - 1
        """The bits of all nodes."""
        self._keys: frozenset[str] = frozenset().union(*[node.labels for node in nodes])
        self._by_key: dict[str, _Values] = {}

    def listed(self, bits: int) -> list[bool]:
        """Node -> whether its bit is set."""
        # The bit above the last node keeps the zeros of the last ones.
        return [digit == "1" for digit in bin(bits | 1 << len(self._nodes))[:2:-1]]

    def selected(self, constraint: NodeConstraint) -> int:
        """The nodes that selector, required affinity and needed features accept."""
        bits = self.every
        if constraint.features:
            bits = _joined(self._by_features, constraint.features.issubset)
        for key, value in constraint.selector:
            bits &= self._values(key).having((value,))
        if constraint.affinity:
            bits &= self._meeting_some(constraint.affinity)
        return bits

    def tolerated(self, constraint: NodeConstraint) -> int:
        """The nodes whose taints keep no pod with these tolerations off."""
        return _joined(self._by_taints, lambda taints: not constraint.untolerated(taints))

    def _meeting_some(self, terms: Iterable[tuple[Requirement, ...]]) -> int:
        found = 0
        for term in terms:
            bits = self.every if term else 0
            for one in term:
                bits &= self._meeting(one)
            found |= bits
        return found

    def _meeting(self, one: Requirement) -> int:
        if not one.is_field:
            values = self._values(one.key)
        else:
            values = self._by_name if one.key == NODE_NAME_FIELD else _NO_VALUES
        match one.operator:
            case Operator.IN:
                return values.having(one.values)
            case Operator.NOT_IN:
                return self.every & ~values.having(one.values)
            case Operator.EXISTS:
                return values.stated
            case Operator.DOES_NOT_EXIST:
                return self.every & ~values.stated
            case Operator.GT | Operator.LT:
                return values.compared(one)

    def _values(self, key: str) -> _Values:
        if key not in self._keys:
            return _NO_VALUES
        if key not in self._by_key:
            self._by_key[key] = _Values([node.labels.get(key) for node in self._nodes])
        return self._by_key[key]

    @cached_property
    def _by_name(self) -> _Values:
        return _Values([node.name for node in self._nodes])

    @cached_property
    def _by_features(self) -> dict[frozenset[str], int]:
        return _grouped([node.features for node in self._nodes])

    @cached_property
    def _by_taints(self) -> dict[tuple[Taint, ...], int]:
        return _grouped([node.taints for node in self._nodes])


def _grouped(said: Sequence[K]) -> dict[K, int]:
    """What nodes say -> the nodes that say it."""
    found: dict[K, int] = {}
    for i, one in enumerate(said):
        found[one] = found.get(one, 0) | 1 << i
    return found


def _joined(groups: dict[K, int], holds: Callable[[K], bool]) -> int:
    found = 0
    for one, bits in groups.items():
        if holds(one):
            found |= bits
    return found
