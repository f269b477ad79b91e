"""Required anti-affinity on the host, beyond the pods of one gang."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from model.constraint import NODE_NAME_FIELD, Operator, Requirement
from model.gang import Gang, Hold
from model.readers.constraints import narrowed
from model.readers.gangs import Draft
from model.readers.pods import Pod
from model.readers.selector import LabelSelector
from model.reasons import ReasonKind


def keep_apart(drafts: Sequence[Draft], running: Iterable[Pod]) -> None:
    """Change `drafts` such that no plan puts two pods on one node that must not share it.

    Nodes with running pods that a gang repels, or that repel it, are taken from its
    eligible nodes. Of waiting gangs that repel each other, the first goes ahead and the
    others wait until it is bound: which nodes it takes is not known before.
    """
    standing = list(running)
    repelling = [draft for draft in drafts if any(p.wants.spread for p in draft.waiting)]
    repellers = [pod for pod in standing if pod.has_anti_affinity]
    if not repelling and not repellers:
        return
    there = _There(standing)
    for draft in drafts:
        _avoid(draft, there, repellers)
    _take_turns(drafts, repelling)


class _There:
    """The running pods, such that those that a selector picks are found without a search."""

    def __init__(self, running: Iterable[Pod]) -> None:
        self._spaces: dict[str, list[Pod]] = {}
        for pod in running:
            self._spaces.setdefault(pod.namespace, []).append(pod)
        self._labelled: dict[tuple[str, str], dict[str, list[Pod]]] = {}
        self._picked: dict[tuple[str, LabelSelector], list[Pod]] = {}

    def picked(self, namespace: str, selector: LabelSelector) -> list[Pod]:
        """The running pods of `namespace` that `selector` picks."""
        found = self._picked.get((namespace, selector))
        if found is None:
            some = self._some(namespace, selector)
            found = [pod for pod in some if selector.picks(pod.labels)]
            self._picked[namespace, selector] = found
        return found

    def _some(self, namespace: str, selector: LabelSelector) -> list[Pod]:
        """Pods among which are all that `selector` picks."""
        if not selector.labels:
            return self._spaces.get(namespace, [])
        key, value = selector.labels[0]
        index = self._labelled.get((namespace, key))
        if index is None:
            index = self._labelled[namespace, key] = {}
            for pod in self._spaces.get(namespace, ()):
                of_pod = pod.labels.get(key)
                if of_pod is not None:
                    index.setdefault(of_pod, []).append(pod)
        return index.get(value, [])


def _repels(pod: Pod, other: Pod) -> bool:
    return pod.namespace == other.namespace and any(
        term.selector.picks(other.labels) for term in pod.wants.spread
    )


def _avoid(draft: Draft, there: _There, repellers: Iterable[Pod]) -> None:
    """Take the nodes of repelled and repelling running pods from the gang's nodes."""
    members = {id(pod) for pod in draft.bound}
    samples = _distinct(draft.waiting)
    nodes = {
        pod.node
        for sample in samples
        for term in sample.wants.spread
        for pod in there.picked(sample.namespace, term.selector)
        if id(pod) not in members
    }
    nodes |= {
        pod.node
        for pod in repellers
        if id(pod) not in members
        for sample in samples
        if _repels(pod, sample)
    }
    if not nodes:
        return
    away = Requirement(NODE_NAME_FIELD, Operator.NOT_IN, tuple(sorted(nodes)), True)
    draft.gang = replace(
        draft.gang,
        roles=tuple(
            replace(role, constraint=narrowed(role.constraint, away)) if role.pods else role
            for role in draft.gang.roles
        ),
    )


def _distinct(pods: Sequence[Pod]) -> list[Pod]:
    """One pod for each set of labels and spec: the others repel and are repelled alike."""
    found: dict[tuple[int, tuple[tuple[str, str], ...]], Pod] = {}
    for pod in pods:
        found.setdefault((id(pod.spec), tuple(sorted(pod.labels.items()))), pod)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Turn:
    draft: Draft
    samples: tuple[Pod, ...]


def _order(draft: Draft) -> tuple[int, float, object]:
    gang: Gang = draft.gang
    return -gang.priority, gang.created, gang.key


def _take_turns(drafts: Sequence[Draft], repelling: Sequence[Draft]) -> None:
    if not repelling:
        return
    ahead: list[_Turn] = []
    for draft in sorted((one for one in drafts if one.gang.hold is None), key=_order):
        turn = _Turn(draft, tuple(_distinct(draft.waiting)))
        first = next((other for other in ahead if _clash(turn, other)), None)
        if first is None:
            ahead.append(turn)
            continue
        name = first.draft.gang.key
        draft.gang = replace(
            draft.gang,
            hold=Hold(
                ReasonKind.WAITS_FOR_GANG,
                f"pod anti-affinity keeps it off the nodes of gang {name}, which goes first",
                (),
                (f"It is planned once gang {name} is bound.",),
            ),
        )


def _clash(turn: _Turn, other: _Turn) -> bool:
    return any(_repels(a, b) or _repels(b, a) for a in turn.samples for b in other.samples)
