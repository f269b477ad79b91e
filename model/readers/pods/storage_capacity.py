"""CSIStorageCapacity: from which nodes a StorageClass has room for a volume of a size.

As kube-scheduler's plugin VolumeBinding has it: what a driver says is compared with the claim, and
nothing is reserved. Where several claims share a segment that has room for one of them, the driver
refuses the others, and their gangs are taken back before any member is bound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fourleaf.model.node_constraint import Operator, Requirement
from fourleaf.model.quantity import in_bytes
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.label_selector import read_selector
from fourleaf.model.readers.pods.node_terms import Terms

Address = tuple[str, str]
Term = tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class _Segment:
    """The largest volume in bytes that nodes meeting `term` may ask for; () is every node."""

    largest: int
    term: Term


class StorageCapacities:
    """All CSIStorageCapacity objects by StorageClass, as they come and go."""

    def __init__(self) -> None:
        self._segments: dict[str, dict[Address, _Segment]] = {}
        self._class_of: dict[Address, str] = {}
        self._ranked: dict[str, tuple[list[int], list[Term]]] = {}
        self._terms: dict[str, dict[int, Terms]] = {}

    def put(self, one: Manifest) -> set[str]:
        """Take an object as it is now; the classes of which it says or said something."""
        at = one.namespace, one.name
        touched = self.remove(at)
        name = one.text(one.body.get("storageClassName"), "storageClassName")
        segment = _segment(one.on(Report()))
        if segment is not None:
            self._segments.setdefault(name, {})[at] = segment
            self._class_of[at] = name
            touched.add(name)
            self._forget(name)
        return touched

    def remove(self, at: Address) -> set[str]:
        """Forget an object; the class of which it said something."""
        name = self._class_of.pop(at, None)
        if name is None:
            return set()
        self._segments[name].pop(at)
        if not self._segments[name]:
            del self._segments[name]
        self._forget(name)
        return {name}

    def terms(self, class_name: str, size: int) -> Terms | None:
        """The nodes that have room for a volume of that size, None where none has; () is all.

        Equal questions cost nothing, and there are as many answers as there are segments.
        """
        if class_name not in self._segments:
            return None
        sizes, terms = self._rank(class_name)
        number = len(sizes) - bisect_left(sizes, size)
        if not number:
            return None
        known = self._terms.setdefault(class_name, {})
        if number not in known:
            known[number] = _merged(terms[len(terms) - number :])
        return known[number]

    def _rank(self, class_name: str) -> tuple[list[int], list[Term]]:
        """The segments by size, smallest first."""
        if class_name not in self._ranked:
            some = sorted(self._segments[class_name].values(), key=lambda one: one.largest)
            self._ranked[class_name] = [one.largest for one in some], [one.term for one in some]
        return self._ranked[class_name]

    def _forget(self, class_name: str) -> None:
        self._ranked.pop(class_name, None)
        self._terms.pop(class_name, None)


def capacities_of(objects: Iterable[Manifest]) -> StorageCapacities:
    """All `objects`, read at once."""
    found = StorageCapacities()
    for one in objects:
        found.put(one)
    return found


def _segment(one: Manifest) -> _Segment | None:
    """What an object says, None where it offers nothing to any node."""
    field = "maximumVolumeSize" if one.body.get("maximumVolumeSize") is not None else "capacity"
    size, topology = one.body.get(field), one.body.get("nodeTopology")
    if size is None or topology is None:
        return None
    selector = read_selector(one, topology, "nodeTopology")
    largest = one.amount(in_bytes, size, field)
    if one.broken:
        return None
    labels = [Requirement(key, Operator.IN, (value,)) for key, value in selector.labels]
    more = [
        Requirement(key, Operator(operator), values)
        for key, operator, values in selector.expressions
    ]
    return _Segment(largest, (*labels, *more))


def _merged(terms: Iterable[Term]) -> Terms:
    """`terms` as few as they can be said in; none at all where one of them is every node.

    A driver has a segment for each zone, or for each node: they differ in the value of one label.
    """
    alike: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
    others: dict[Term, None] = {}
    for term in terms:
        if not term:
            return ()
        if all(one.operator is Operator.IN and len(one.values) == 1 for one in term):
            row = tuple(one.values[0] for one in term)
            alike.setdefault(tuple(one.key for one in term), {})[row] = None
        else:
            others[term] = None
    found = [term for keys, rows in sorted(alike.items()) for term in _rows_as_terms(keys, rows)]
    return (*found, *sorted(others, key=str))


def _rows_as_terms(keys: tuple[str, ...], rows: Mapping[tuple[str, ...], None]) -> list[Term]:
    """Terms for rows of values: all values of the label that has most, for equal other values."""
    most = max(range(len(keys)), key=lambda i: len({row[i] for row in rows}))
    values: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        values.setdefault((*row[:most], *row[most + 1 :]), []).append(row[most])
    rest = (*keys[:most], *keys[most + 1 :])
    return [
        (
            *(Requirement(key, Operator.IN, (one,)) for key, one in zip(rest, same, strict=True)),
            Requirement(keys[most], Operator.IN, tuple(sorted(some))),
        )
        for same, some in sorted(values.items())
    ]
