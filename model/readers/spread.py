"""Required anti-affinity on the host, beyond the pods of one gang."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from model.constraint import NODE_NAME_FIELD, Operator, Requirement
from model.gang import Gang, Hold
from model.readers.constraints import narrowed
from model.readers.gangs import Draft
from model.readers.pods import Pod
from model.reasons import ReasonKind


def keep_apart(drafts: list[Draft], pods: Sequence[Pod]) -> list[Draft]:
    """`drafts` such that no plan puts two pods on one node that must not share it.

    Nodes with running pods that a gang repels, or that repel it, are taken from its
    eligible nodes. Of waiting gangs that repel each other, the first goes ahead and the
    others wait until it is bound: which nodes it takes is not known before.
    """
    repelling = [draft for draft in drafts if any(p.wants.spread for p in draft.waiting)]
    repellers = [pod for pod in pods if pod.running and _has_anti_affinity(pod)]
    if not repelling and not repellers:
        return drafts
    running = [pod for pod in pods if pod.running]
    for draft in drafts:
        _avoid(draft, running, repellers)
    _take_turns(drafts, repelling)
    return drafts


def _has_anti_affinity(pod: Pod) -> bool:
    affinity = pod.spec.get("affinity")
    return isinstance(affinity, dict) and bool(affinity.get("podAntiAffinity"))


def _repels(pod: Pod, other: Pod) -> bool:
    return pod.namespace == other.namespace and any(
        term.selector.picks(other.labels) for term in pod.wants.spread
    )


def _avoid(draft: Draft, running: Iterable[Pod], repellers: Iterable[Pod]) -> None:
    """Take the nodes of repelled and repelling running pods from the gang's nodes."""
    members = {id(pod) for pod in draft.bound}
    samples = _distinct(draft.waiting)
    nodes = {
        pod.node
        for sample in samples
        if sample.wants.spread
        for pod in running
        if id(pod) not in members and _repels(sample, pod)
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
