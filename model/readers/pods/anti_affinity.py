"""Pods of which one may not want the other near, found without comparing all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from fourleaf.model.readers.pods.label_selector import LabelSelector
from fourleaf.model.readers.pods.pods import Pod

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
        self._repelling: dict[tuple[str, _Pair], dict[tuple[LabelSelector, str], _Some]] = {}
        self._labelled: dict[str, dict[str, dict[str, _Some]]] = {}
        for pod in pods:
            self.add(pod)

    @property
    def any_repels(self) -> bool:
        """Whether a pod among them minds who stands on its node."""
        return bool(self._repelling)

    def add(self, pod: Pod) -> None:
        """Take in a pod."""
        self._spaces.setdefault(pod.namespace, {})[id(pod)] = pod
        for key, index in self._labelled.get(pod.namespace, {}).items():
            if key in pod.labels:
                index.setdefault(pod.labels[key], {})[id(pod)] = pod
        if pod.has_anti_affinity:
            for term in pod.wants.spread:
                place = (pod.namespace, _pair(term.selector))
                alike = self._repelling.setdefault(place, {})
                alike.setdefault((term.selector, term.key), {})[id(pod)] = pod

    def discard(self, pod: Pod) -> None:
        """Forget a pod that was taken in."""
        _take(self._spaces, pod.namespace, pod)
        if pod.namespace not in self._spaces:
            self._labelled.pop(pod.namespace, None)
        for key, index in self._labelled.get(pod.namespace, {}).items():
            if key in pod.labels:
                _take(index, pod.labels[key], pod)
        if pod.has_anti_affinity:
            for term in pod.wants.spread:
                place = (pod.namespace, _pair(term.selector))
                alike = self._repelling.get(place)
                if alike is not None:
                    _take(alike, (term.selector, term.key), pod)
                    if not alike:
                        del self._repelling[place]

    def minding(self, pod: Pod) -> Iterator[tuple[Pod, str]]:
        """Those that `pod` repels, and those that repel it; some of them twice.

        With each comes the label of nodes of which the two must not have the same value.
        """
        for term in pod.wants.spread:
            for other in self._near(pod.namespace, term.selector):
                if term.selector.picks(other.labels):
                    yield other, term.key
        if self._repelling:
            for pair in (None, *pod.labels.items()):
                alike = self._repelling.get((pod.namespace, pair), {})
                for (selector, key), others in alike.items():
                    if selector.picks(pod.labels):
                        for other in others.values():
                            yield other, key

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
