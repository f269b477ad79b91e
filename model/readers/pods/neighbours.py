"""Running pods that another may want near, or not near, found without comparing all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fourleaf.model.readers.pods.label_selector import LabelSelector
from fourleaf.model.readers.pods.pod_terms import EVERY_NAMESPACE, PodTerm
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.readers.pods.volumes import claims_of

USUAL_LABELS = 16
"""Labels of a pod by which it is free to look for those that repel it."""
LABEL_COMPARISONS = 8
"""Comparisons that it counts for to look for these by one label more."""
_INDEXES = 16
"""Label keys that pods are indexed by at once, for each namespace."""

_Asked = tuple[str, str | None] | None
"""The label that a selector asks for first: a pair, or a key where several values would do.

None where it asks for none.
"""
_Some = dict[int, Pod]
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(slots=True)
class TermGroup:
    """Terms of pods of one namespace that ask for the same label and have the same topology `key`.

    `nodes` are those of the pods that have them, with how many terms of pods are there. To compare
    all of them with a pod counts for so many `comparisons`.
    """

    key: str
    pods_of: dict[PodTerm, _Some] = field(default_factory=dict)
    nodes: Counter[str] = field(default_factory=Counter)
    comparisons: int = 0

    def add(self, term: PodTerm, pod: Pod) -> None:
        """Take in that `pod` has `term`."""
        some = self.pods_of.setdefault(term, {})
        if not some:
            self.comparisons += term.selector.comparisons
        if id(pod) not in some:
            some[id(pod)] = pod
            self.nodes[pod.node] += 1

    def discard(self, term: PodTerm, pod: Pod) -> None:
        """Forget that `pod` has `term`."""
        if id(pod) not in self.pods_of.get(term, ()):
            return
        _take(self.pods_of, term, pod)
        if term not in self.pods_of:
            self.comparisons -= term.selector.comparisons
        self.nodes[pod.node] -= 1
        if not self.nodes[pod.node]:
            del self.nodes[pod.node]


_Groups = dict[str, TermGroup]
"""Topology key -> the terms that have it."""


class Neighbours:
    """Pods that come and go, each known by its identity as an object."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._spaces: dict[str, _Some] = {}
        """Pods by namespace, and all of them as those of `EVERY_NAMESPACE`.

        To look into each of 1,000 namespaces for a term about all takes 0.3 ms, found or not.
        """
        self._repelling: dict[tuple[str, _Asked], dict[str, _Groups]] = {}
        """Namespace and label of who is repelled -> namespace of who repels it -> the terms."""
        self._labelled: dict[str, dict[str, dict[str, _Some]]] = {}
        self._many_keyed: set[str] = set()
        """Namespaces whose pods were asked for by more keys than they are indexed by."""
        self._claiming: dict[tuple[str, str], _Some] = {}
        self.compared = 0
        """How often a selector was compared with a pod, but for those of `caused`.

        An index that takes the place of another one counts as a comparison with each of its pods.
        """
        self.caused: Counter[str] = Counter()
        """How often those of a namespace were that repel pods of others."""
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
        for space in (pod.namespace, EVERY_NAMESPACE):
            self._spaces.setdefault(space, {})[id(pod)] = pod
            for key, index in self._labelled.get(space, {}).items():
                if key in pod.labels:
                    index.setdefault(pod.labels[key], {})[id(pod)] = pod
        for _, claim in claims_of(pod.name, pod.spec):
            self._claiming.setdefault((pod.namespace, claim), {})[id(pod)] = pod
        if pod.has_anti_affinity:
            for term in pod.wants.apart:
                for namespace in term.namespaces:
                    there = self._repelling.setdefault((namespace, _asked(term.selector)), {})
                    groups = there.setdefault(pod.namespace, {})
                    if term.key not in groups:
                        groups[term.key] = TermGroup(term.key)
                    groups[term.key].add(term, pod)

    def discard(self, pod: Pod) -> None:
        """Forget a pod that was taken in."""
        for space in (pod.namespace, EVERY_NAMESPACE):
            _take(self._spaces, space, pod)
            if space not in self._spaces:
                self._labelled.pop(space, None)
                self._many_keyed.discard(space)
            for key, index in self._labelled.get(space, {}).items():
                if key in pod.labels:
                    _take(index, pod.labels[key], pod)
        for _, claim in claims_of(pod.name, pod.spec):
            _take(self._claiming, (pod.namespace, claim), pod)
        if pod.has_anti_affinity:
            for term in pod.wants.apart:
                for namespace in term.namespaces:
                    self._drop_term((namespace, _asked(term.selector)), term, pod)

    def minding(self, pod: Pod) -> Iterator[tuple[Pod, str]]:
        """Those that `pod` repels, and those that repel it; some of them twice.

        With each comes the label of nodes of which the two must not have the same value.
        """
        for term in pod.wants.apart:
            for other in self.picked(term):
                yield other, term.key
        for owner, groups in self.terms_about(pod):
            for key, others in self.repelling(pod, owner, groups):
                for other in others.values():
                    yield other, key

    def terms_about(
        self, pod: Pod, keys: Collection[str] | None = None
    ) -> Iterator[tuple[str, Sequence[TermGroup]]]:
        """The terms that may repel `pod`, by the namespace of those that have them.

        Together come those that ask for the same label; of `keys`, where these are given, alone.
        """
        if not self._repelling:
            return
        self.compared += LABEL_COMPARISONS * max(0, len(pod.labels) - USUAL_LABELS)
        labels = ((key, None) for key in pod.labels)
        asked: tuple[_Asked, ...] = (None, *pod.labels.items(), *labels)
        for namespace in (pod.namespace, EVERY_NAMESPACE):
            for one in asked:
                for owner, groups in self._repelling.get((namespace, one), {}).items():
                    if some := _of_keys(groups, keys):
                        yield owner, some

    def repelling(
        self, pod: Pod, owner: str, groups: Iterable[TermGroup]
    ) -> Iterator[tuple[str, Mapping[int, Pod]]]:
        """Of these terms of a namespace, those that repel `pod`: their key, and who has them.

        Who repels pods of other namespaces causes the comparisons with these.
        """
        for group in groups:
            self.charge(owner, pod, group.comparisons)
            for term, others in group.pods_of.items():
                if term.selector.picks(pod.labels):
                    yield group.key, others

    def charge(self, owner: str, pod: Pod, comparisons: int) -> None:
        """Count what terms of `owner` cost beside `pod`."""
        if owner == pod.namespace:
            self.compared += comparisons
        else:
            self.caused[owner] += comparisons

    def picked(self, term: PodTerm) -> Iterator[Pod]:
        """Those that a term picks, where they may be."""
        every = EVERY_NAMESPACE in term.namespaces
        for namespace in (EVERY_NAMESPACE,) if every else term.namespaces:
            for pod in self._near(namespace, term.selector):
                self.compared += term.selector.comparisons
                if term.selector.picks(pod.labels):
                    yield pod

    def claiming(self, namespace: str, claim: str) -> Iterable[Pod]:
        """Those that use a PersistentVolumeClaim."""
        return self._claiming.get((namespace, claim), {}).values()

    def _near(self, namespace: str, selector: LabelSelector) -> Iterable[Pod]:
        """Pods among which are all that `selector` picks."""
        there = self._spaces.get(namespace)
        asked = _asked(selector)
        if there is None or selector.picks_nothing:
            return ()
        if asked is None:
            return there.values()
        index = self._index(namespace, asked[0], there)
        if asked[1] is None:
            return [pod for some in index.values() for pod in some.values()]
        return index.get(asked[1], {}).values()

    def _index(self, namespace: str, key: str, there: _Some) -> dict[str, _Some]:
        indexes = self._labelled.setdefault(namespace, {})
        index = indexes.get(key)
        if index is None:
            if len(indexes) == _INDEXES:
                indexes.clear()
                self._many_keyed.add(namespace)
            if namespace in self._many_keyed:
                self.compared += len(there)
            index = indexes[key] = {}
            for pod in there.values():
                if key in pod.labels:
                    index.setdefault(pod.labels[key], {})[id(pod)] = pod
        return index

    def _drop_term(self, place: tuple[str, _Asked], term: PodTerm, pod: Pod) -> None:
        owners = self._repelling.get(place, {})
        groups = owners.get(pod.namespace, {})
        if term.key in groups:
            groups[term.key].discard(term, pod)
            if not groups[term.key].pods_of:
                del groups[term.key]
            if not groups:
                del owners[pod.namespace]
                if not owners:
                    del self._repelling[place]


def _of_keys(groups: _Groups, keys: Collection[str] | None) -> Sequence[TermGroup]:
    if keys is None:
        return list(groups.values())
    # A tenant writes any number of keys, and nodes have few.
    if len(groups) > len(keys):
        return [groups[key] for key in keys if key in groups]
    return [group for key, group in groups.items() if key in keys]


def breadth(selector: LabelSelector) -> int:
    """0 where the pods of one value of a label are looked at for it, 1 of any value, 2 all."""
    asked = _asked(selector)
    return 2 if asked is None else int(asked[1] is None)


def _asked(selector: LabelSelector) -> _Asked:
    if selector.labels:
        return selector.labels[0]
    keys = (key for key, operator, _ in selector.expressions if operator in ("In", "Exists"))
    key = next(keys, None)
    return None if key is None else (key, None)


def _take(index: dict[_Key, _Some], key: _Key, pod: Pod) -> None:
    """Take `pod` out of `index`, and what is empty then."""
    some = index.get(key)
    if some is not None:
        some.pop(id(pod), None)
        if not some:
            del index[key]
