"""Where a topology spread constraint would have one more pod, for the pods that run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from fourleaf.model.readers.gangs.kept_apart import Nodes
from fourleaf.model.readers.gangs.node_index import NodeIndex
from fourleaf.model.readers.pods.label_selector import LabelSelector
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.readers.pods.node_constraints import NodeWants
from fourleaf.model.readers.pods.pod_terms import SpreadConstraint
from fourleaf.model.readers.pods.pods import Pod

NODES_A_COMPARISON = 2
"""Nodes looked at that count as one comparison of a selector with a pod, which takes as long."""


class SpreadValues:
    """The values of a label that a spread constraint leaves, worked out once for pods alike."""

    def __init__(self, running: Neighbours, nodes: Nodes) -> None:
        self._running = running
        self._nodes = nodes
        self._known: dict[tuple[int, SpreadConstraint, bool], tuple[str, ...]] = {}
        self._places: dict[tuple[object, ...], tuple[dict[str, str], tuple[str, ...]]] = {}
        self._numbers: dict[NodeWants, int] = {}
        self._number_of: dict[int, tuple[NodeWants, int, frozenset[str]]] = {}
        """Identity of wants -> these, their number, and the labels that all of them spread over.

        To hash wants takes as long as they are, and they are asked about for each of their terms.
        """

    def allowed(self, pod: Pod, spread: SpreadConstraint) -> tuple[str, ...]:
        """Values on whose nodes one more pod like `pod` is not too many."""
        itself = spread.term.picks(pod.namespace, pod.labels)
        key = (self._numbered(pod.wants)[1], spread, itself)
        if key not in self._known:
            self._known[key] = self._counted(pod.wants, spread, itself)
        return self._known[key]

    @cached_property
    def _index(self) -> NodeIndex:
        # Made where it is asked for: most readings have no pod that is spread.
        return NodeIndex(self._running, self._nodes.values())

    def _numbered(self, wants: NodeWants) -> tuple[NodeWants, int, frozenset[str]]:
        known = self._number_of.get(id(wants))
        if known is None:
            number = self._numbers.setdefault(wants, len(self._numbers))
            known = wants, number, frozenset(one.term.key for one in wants.spread)
            self._number_of[id(wants)] = known
        return known

    def _counted(self, wants: NodeWants, spread: SpreadConstraint, itself: bool) -> tuple[str, ...]:
        there = self.standing(wants, spread)
        most = emptiest(there, spread) + spread.max_skew - itself
        return tuple(sorted(value for value, pods in there.items() if len(pods) <= most))

    def standing(self, wants: NodeWants, spread: SpreadConstraint) -> dict[str, list[Pod]]:
        """The pods that count on the nodes of each value."""
        value_of, values = self._values(wants, spread)
        self._running.count(len(values) // NODES_A_COMPARISON)
        there: dict[str, list[Pod]] = {value: [] for value in values}
        # By an empty selector, kube-scheduler counts no pod that is there.
        picks_all = spread.term.selector == LabelSelector()
        for pod in () if picks_all else self._running.picked(spread.term):
            if pod.node in value_of and not pod.terminating:
                there[value_of[pod.node]].append(pod)
        return there

    def _values(
        self, wants: NodeWants, spread: SpreadConstraint
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        """Node -> its value of the label, for nodes that count; and each of the values."""
        keys = self._numbered(wants)[2] | {spread.term.key}
        minds = wants.constraint if spread.by_affinity or spread.by_taints else None
        same = (spread.term.key, keys, minds, spread.by_affinity, spread.by_taints)
        if same not in self._places:
            self._running.count(len(self._nodes) // NODES_A_COMPARISON)
            index = self._index
            counting = index.with_keys(keys)
            # What a kubelet declares keeps a pod off its node, and the node counts all the same.
            if spread.by_affinity:
                counting &= index.selected(wants.constraint)
            if spread.by_taints:
                counting &= index.tolerated(wants.constraint)
            found = {node.name: node.labels[spread.term.key] for node in index.of(counting)}
            self._places[same] = found, tuple(dict.fromkeys(found.values()))
        return self._places[same]


def emptiest(there: Mapping[str, Sequence[Pod]], spread: SpreadConstraint) -> int:
    """How many pods count where the fewest do."""
    return 0 if len(there) < spread.min_domains else min(map(len, there.values()), default=0)
