"""Nodes that waiting pods prefer for the pods that run: near some, apart from others, spread.

Preferred affinity to pods and spread with `ScheduleAnyway`, as far as one node is better than
another by them: a label's value counts as met or not, where kube-scheduler counts the pods there.
"""

from __future__ import annotations

from collections.abc import Iterator

from fourleaf.model.node_constraint import FULL_WEIGHT, Operator, Preference, Requirement
from fourleaf.model.readers.gangs.kept_apart import NEW_TERM_COMPARISONS, Nodes, label_of
from fourleaf.model.readers.gangs.spread_values import SpreadValues
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.readers.pods.pod_terms import PodTerm
from fourleaf.model.readers.pods.pods import Pod


class PreferredPlaces:
    """What `running` pods let waiting ones prefer. To be made anew once any of them changes."""

    def __init__(self, running: Neighbours, nodes: Nodes, values: SpreadValues) -> None:
        self._running = running
        self._nodes = nodes
        self._spread = values
        self._picked: dict[PodTerm, tuple[str, ...]] = {}

    def of(self, pod: Pod) -> tuple[Preference, ...]:
        """The preferences of pods like `pod` that follow from where others are."""
        return tuple(self._found(pod))

    def _found(self, pod: Pod) -> Iterator[Preference]:
        preferred = pod.wants.preferred
        for weighted in preferred.pods:
            values = self._where(weighted.term)
            # Without such a pod, every node is as near and as far.
            if values:
                operator = Operator.IN if weighted.weight > 0 else Operator.NOT_IN
                key = weighted.term.key
                yield Preference(abs(weighted.weight), (Requirement(key, operator, values),))
        for spread in preferred.spread:
            values = self._spread.allowed(pod, spread)
            if values:
                key = spread.term.key
                yield Preference(FULL_WEIGHT, (Requirement(key, Operator.IN, values),))

    def _where(self, term: PodTerm) -> tuple[str, ...]:
        """The values of the term's label where pods stand that it picks, in order."""
        if term not in self._picked:
            self._running.count(NEW_TERM_COMPARISONS)
            found = {
                label_of(self._nodes, pod.node, term.key) for pod in self._running.picked(term)
            }
            self._picked[term] = tuple(sorted(value for value in found if value is not None))
        return self._picked[term]
