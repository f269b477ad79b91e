"""Nodes that waiting pods must keep away from, for running pods that they repel or that repel them.

Worked out once for each term and once for pods that are alike, since a thousand replicas have the
same terms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from fourleaf.model.node import Node
from fourleaf.model.node_constraint import HOSTNAME, NODE_NAME_FIELD, Operator, Requirement
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.readers.pods.pod_terms import PodTerm
from fourleaf.model.readers.pods.pods import Pod

NEW_TERM_COMPARISONS = 50
"""Comparisons that it counts for to look for those that a term picks, found or not."""

Nodes = Mapping[str, Node]
"""All nodes by name, in the fabric or not."""

_Values = frozenset[str]
"""Names of nodes, or values of a label of nodes."""


class KeptApart:
    """What `running` pods leave to waiting ones. To be made anew once any of them changes.

    Of a namespace whose terms about pods of others were compared `most` times, none is compared any
    more: its pods count as repelling all of those, which one term without labels would have done.
    """

    def __init__(self, running: Neighbours, nodes: Nodes, most: int) -> None:
        self._running = running
        self._nodes = nodes
        self._most = most
        self._caused_before = running.caused.copy()
        self._all_of: dict[tuple[str, str], tuple[tuple[str, _Values], ...]] = {}
        self._picked: dict[PodTerm, _Values] = {}
        self._repelling: dict[tuple[str, PodTerm], _Values] = {}
        self._known: dict[tuple[object, ...], tuple[Requirement, ...]] = {}

    def away_from(self, pod: Pod, but_for: Sequence[Pod]) -> tuple[Requirement, ...]:
        """What the nodes of pods like `pod` must be, whatever the pods `but_for` are."""
        if any(_mind(pod, other) for other in but_for):
            return self._without(pod, but_for)
        key = (pod.namespace, pod.wants.apart, tuple(pod.labels.items()))
        if key not in self._known:
            found: dict[str, set[str]] = defaultdict(set)
            for term in pod.wants.apart:
                if term not in self._picked:
                    self._running.count(NEW_TERM_COMPARISONS)
                    self._picked[term] = self._values(term.key, self._running.picked(term))
                found[_place(term.key)] |= self._picked[term]
            dear = self._dear(pod.namespace)
            for owner, term, others in self._running.repelling(pod, dear):
                if (owner, term) not in self._repelling:
                    self._repelling[owner, term] = self._values(term.key, others)
                found[_place(term.key)] |= self._repelling[owner, term]
            for owner in dear:
                for place, values in self._all(owner, pod.namespace):
                    found[place] |= values
            self._known[key] = _requirements(found)
        return self._known[key]

    def _dear(self, namespace: str) -> set[str]:
        """The other namespaces whose terms have been compared too often."""
        caused, before = self._running.caused, self._caused_before
        return {
            name
            for name, count in caused.items()
            if name != namespace and count - before[name] > self._most
        }

    def _all(self, owner: str, namespace: str) -> tuple[tuple[str, _Values], ...]:
        """Where pods of a namespace stand that may repel those of another, whatever their terms."""
        if (owner, namespace) not in self._all_of:
            self._all_of[owner, namespace] = tuple(
                (_place(term.key), self._values(term.key, others))
                for term, others in self._running.terms_of(owner, namespace)
            )
        return self._all_of[owner, namespace]

    def _without(self, pod: Pod, but_for: Sequence[Pod]) -> tuple[Requirement, ...]:
        members = {id(one) for one in but_for}
        found: dict[str, set[str]] = defaultdict(set)
        for other, key in self._running.minding(pod):
            if id(other) not in members:
                found[_place(key)] |= self._values(key, (other,))
        return _requirements(found)

    def _values(self, key: str, pods: Iterable[Pod]) -> _Values:
        if key == HOSTNAME:
            return frozenset(pod.node for pod in pods)
        values = (label_of(self._nodes, pod.node, key) for pod in pods)
        return frozenset(value for value in values if value is not None)


def label_of(nodes: Nodes, node: str, key: str) -> str | None:
    """The value of a label of a node, None where it has none or there is no such node."""
    found = nodes.get(node)
    return None if found is None else found.labels.get(key)


def _mind(pod: Pod, other: Pod) -> bool:
    """Whether one of the two repels the other."""
    return any(term.picks(other.namespace, other.labels) for term in pod.wants.apart) or any(
        term.picks(pod.namespace, pod.labels) for term in other.wants.apart
    )


def _place(key: str) -> str:
    return NODE_NAME_FIELD if key == HOSTNAME else key


def _requirements(found: Mapping[str, set[str]]) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(key, Operator.NOT_IN, tuple(sorted(values)), key == NODE_NAME_FIELD)
        for key, values in sorted(found.items())
        if values
    )
