"""Running pods that another may want near, or not near, found without comparing all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from fourleaf.model.readers.pods.label_selector import LabelSelector
from fourleaf.model.readers.pods.pod_terms import EVERY_NAMESPACE, PodTerm
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.readers.pods.volumes import claims_of

_INDEXES = 16
"""Label keys that pods are indexed by at once, for each namespace."""

_Pair = tuple[str, str] | None
"""The label that a selector asks for first, None where it asks for none."""
_Some = dict[int, Pod]
_Key = TypeVar("_Key", bound=Hashable)


class Neighbours:
    """Pods that come and go, each known by its identity as an object."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._spaces: dict[str, _Some] = {}
        self._repelling: dict[tuple[str, _Pair], dict[PodTerm, _Some]] = {}
        self._labelled: dict[str, dict[str, dict[str, _Some]]] = {}
        self._claiming: dict[tuple[str, str], _Some] = {}
        self.compared = 0
        """How often a selector was compared with a pod."""
        for pod in pods:
            self.add(pod)

    @property
    def any_repels(self) -> bool:
        """Whether a pod among them minds who stands near it."""
        return bool(self._repelling)

    def count(self, comparisons: int) -> int:
        """How often selectors were compared so far, so many times more than was counted."""
        self.compared += comparisons
        return self.compared

    def add(self, pod: Pod) -> None:
        """Take in a pod."""
        self._spaces.setdefault(pod.namespace, {})[id(pod)] = pod
        for key, index in self._labelled.get(pod.namespace, {}).items():
            if key in pod.labels:
                index.setdefault(pod.labels[key], {})[id(pod)] = pod
        for _, claim in claims_of(pod.name, pod.spec):
            self._claiming.setdefault((pod.namespace, claim), {})[id(pod)] = pod
        if pod.has_anti_affinity:
            for term in pod.wants.apart:
                for namespace in term.namespaces:
                    alike = self._repelling.setdefault((namespace, _pair(term.selector)), {})
                    alike.setdefault(term, {})[id(pod)] = pod

    def discard(self, pod: Pod) -> None:
        """Forget a pod that was taken in."""
        _take(self._spaces, pod.namespace, pod)
        if pod.namespace not in self._spaces:
            self._labelled.pop(pod.namespace, None)
        for key, index in self._labelled.get(pod.namespace, {}).items():
            if key in pod.labels:
                _take(index, pod.labels[key], pod)
        for _, claim in claims_of(pod.name, pod.spec):
            _take(self._claiming, (pod.namespace, claim), pod)
        if pod.has_anti_affinity:
            for term in pod.wants.apart:
                for namespace in term.namespaces:
                    place = (namespace, _pair(term.selector))
                    alike = self._repelling.get(place)
                    if alike is not None:
                        _take(alike, term, pod)
                        if not alike:
                            del self._repelling[place]

    def minding(self, pod: Pod) -> Iterator[tuple[Pod, str]]:
        """Those that `pod` repels, and those that repel it; some of them twice.

        With each comes the label of nodes of which the two must not have the same value.
        """
        for term in pod.wants.apart:
            for other in self.picked(term):
                yield other, term.key
        for term, others in self.repelling(pod):
            for other in others:
                yield other, term.key

    def repelling(self, pod: Pod) -> Iterator[tuple[PodTerm, Iterable[Pod]]]:
        """The terms that repel `pod`, each with those that have it; some of them twice."""
        if not self._repelling:
            return
        for namespace in (pod.namespace, EVERY_NAMESPACE):
            for pair in (None, *pod.labels.items()):
                for term, others in self._repelling.get((namespace, pair), {}).items():
                    self.compared += 1
                    if term.selector.picks(pod.labels):
                        yield term, others.values()

    def picked(self, term: PodTerm) -> Iterator[Pod]:
        """Those that a term picks, where they may be."""
        every = EVERY_NAMESPACE in term.namespaces
        for namespace in list(self._spaces) if every else term.namespaces:
            for pod in self._near(namespace, term.selector):
                self.compared += 1
                if term.selector.picks(pod.labels):
                    yield pod

    def claiming(self, namespace: str, claim: str) -> Iterable[Pod]:
        """Those that use a PersistentVolumeClaim."""
        return self._claiming.get((namespace, claim), {}).values()

    def _near(self, namespace: str, selector: LabelSelector) -> Iterable[Pod]:
        """Pods among which are all that `selector` picks."""
        there = self._spaces.get(namespace)
        pair = _pair(selector)
        if there is None or selector.picks_nothing:
            return ()
        if pair is None:
            return there.values()
        indexes = self._labelled.setdefault(namespace, {})
        index = indexes.get(pair[0])
        if index is None:
            if len(indexes) == _INDEXES:
                indexes.clear()
            index = indexes[pair[0]] = {}
            for pod in there.values():
                if pair[0] in pod.labels:
                    index.setdefault(pod.labels[pair[0]], {})[id(pod)] = pod
        return index.get(pair[1], {}).values()


def _pair(selector: LabelSelector) -> _Pair:
    return selector.labels[0] if selector.labels else None


def _take(index: dict[_Key, _Some], key: _Key, pod: Pod) -> None:
    """Take `pod` out of `index`, and what is empty then."""
    some = index.get(key)
    if some is not None:
        some.pop(id(pod), None)
        if not some:
            del index[key]
