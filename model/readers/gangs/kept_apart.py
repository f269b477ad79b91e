"""Nodes that waiting pods must keep away from, for running pods that they repel or that repel them.

Worked out once for each term and once for pods that are alike, since a thousand replicas have the
same terms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fourleaf.model.node import Node
from fourleaf.model.node_constraint import HOSTNAME, NODE_NAME_FIELD, Operator, Requirement
from fourleaf.model.readers.pods.neighbours import Neighbours, TermGroup
from fourleaf.model.readers.pods.pod_terms import ALL_NODES, PodTerm
from fourleaf.model.readers.pods.pods import Pod

NEW_TERM_COMPARISONS = 50
"""Comparisons that it counts for to look for those that a term picks, found or not."""

PODS_A_COMPARISON = 4
"""Pods whose nodes are looked up in the time of a comparison."""

MOST_FOREIGN_TERMS = 256
"""Terms about pods of other namespaces that those of one namespace may have.

Of waiting pods, those that go first; of running pods, those that ask for the same label.
"""

MOST_FOREIGN_COMPARISONS = 40_000
"""Comparisons with pods of others that terms of one namespace may cause in one reading."""

Nodes = Mapping[str, Node]
"""All nodes by name, in the fabric or not."""

_Values = frozenset[str]
"""Names of nodes, or values of a label of nodes."""


class _Repelled(NamedTuple):
    """What keeps pods that are alike from nodes: pods by topology key, and what comes of it.

    `foreign` are the places that terms of other namespaces take: of these no pod is of their gang.
    """

    others: Sequence[tuple[str, Mapping[int, Pod]]]
    foreign: Mapping[str, Iterable[str]]
    requirements: tuple[Requirement, ...]


class KeptApart:
    """What `running` pods leave to waiting ones. To be made anew once any of them changes.

    Terms of a namespace about pods of others are not compared where too many ask for the same
    label, or it would cause too many comparisons: its pods count as repelling all that have the
    label, which one term would have done.
    """

    def __init__(self, running: Neighbours, nodes: Nodes) -> None:
        self._running = running
        self._nodes = nodes
        self._caused_before = running.caused.copy()
        self._keys: set[str] = set()
        self._all_of: dict[int, _Values] = {}
        self._picked: dict[PodTerm, Mapping[int, Pod]] = {}
        self._standing: dict[tuple[str, int], _Values] = {}
        self._known: dict[tuple[object, ...], _Repelled] = {}

    def away_from(self, pod: Pod, but_for: Sequence[Pod]) -> tuple[Requirement, ...]:
        """What the nodes of pods like `pod` must be, whatever the pods `but_for` are."""
        kind = (pod.namespace, pod.wants.apart, tuple(pod.labels.items()))
        if kind not in self._known:
            self._known[kind] = self._repelled(pod)
        known = self._known[kind]
        members = {id(one) for one in but_for}
        if members:
            looks = sum(min(len(others), len(members)) for _, others in known.others)
            self._running.count(looks // PODS_A_COMPARISON)
        if all(others.keys().isdisjoint(members) for _, others in known.others):
            return known.requirements
        found = {place: set(values) for place, values in known.foreign.items()}
        for key, others in known.others:
            some = (other for one, other in others.items() if one not in members)
            found.setdefault(_place(key), set()).update(self._values(key, some))
        return _requirements(found)

    def _repelled(self, pod: Pod) -> _Repelled:
        """What keeps pods like `pod` from nodes."""
        if not self._keys:
            # Without such a label no two nodes are near, until one has it.
            labels = (node.labels for node in self._nodes.values())
            self._keys = {HOSTNAME, ALL_NODES}.union(*labels)
        own: list[tuple[str, Mapping[int, Pod]]] = []
        foreign: dict[str, set[str]] = defaultdict(set)
        for term in pod.wants.apart:
            if term not in self._picked:
                self._running.count(NEW_TERM_COMPARISONS)
                self._picked[term] = {id(one): one for one in self._running.picked(term)}
            own.append((term.key, self._picked[term]))
        for owner, groups in self._running.terms_about(pod, self._keys):
            if owner == pod.namespace:
                own += self._running.repelling(pod, owner, groups)
                continue
            for place, values in self._foreign(pod, owner, groups):
                foreign[place] |= values
        found = {place: set(values) for place, values in foreign.items()}
        for key, others in own:
            found.setdefault(_place(key), set()).update(
                self._where(pod, pod.namespace, key, others)
            )
        return _Repelled(own, foreign, _requirements(found))

    def _foreign(
        self, pod: Pod, owner: str, groups: Sequence[TermGroup]
    ) -> Sequence[tuple[str, _Values]]:
        """The places that these terms of another namespace take from `pod`."""
        if self._are_too_many(owner, groups):
            return [(_place(group.key), self._all(group)) for group in groups]
        return [
            (_place(key), self._where(pod, owner, key, others))
            for key, others in self._running.repelling(pod, owner, groups)
        ]

    def _are_too_many(self, owner: str, groups: Sequence[TermGroup]) -> bool:
        """Whether these terms are too many to be compared with a pod of another namespace."""
        caused = self._running.caused[owner] - self._caused_before[owner]
        caused += sum(group.comparisons for group in groups)
        terms = sum(len(group.pods_of) for group in groups)
        return terms > MOST_FOREIGN_TERMS or caused > MOST_FOREIGN_COMPARISONS

    def _all(self, group: TermGroup) -> _Values:
        """Where pods stand that have any of these terms."""
        if id(group) not in self._all_of:
            self._all_of[id(group)] = self._values_of(group.key, group.nodes)
        return self._all_of[id(group)]

    def _where(self, pod: Pod, owner: str, key: str, others: Mapping[int, Pod]) -> _Values:
        """Where these pods stand for terms of `owner`, worked out once for all that they repel."""
        one = key, id(others)
        if one not in self._standing:
            self._running.charge(owner, pod, len(others) // PODS_A_COMPARISON)
            self._standing[one] = self._values(key, others.values())
        return self._standing[one]

    def _values(self, key: str, pods: Iterable[Pod]) -> _Values:
        return self._values_of(key, {pod.node for pod in pods})

    def _values_of(self, key: str, nodes: Iterable[str]) -> _Values:
        if key == HOSTNAME:
            return frozenset(nodes)
        if key == ALL_NODES:
            is_there = any(node in self._nodes for node in nodes)
            return frozenset(self._nodes if is_there else ())
        values = (label_of(self._nodes, node, key) for node in nodes)
        return frozenset(value for value in values if value is not None)


def label_of(nodes: Nodes, node: str, key: str) -> str | None:
    """The value of a label of a node, None where it has none or there is no such node."""
    found = nodes.get(node)
    return None if found is None else found.labels.get(key)


def _place(key: str) -> str:
    return NODE_NAME_FIELD if key in (HOSTNAME, ALL_NODES) else key


def _requirements(found: Mapping[str, set[str]]) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(key, Operator.NOT_IN, tuple(sorted(values)), key == NODE_NAME_FIELD)
        for key, values in sorted(found.items())
        if values
    )
