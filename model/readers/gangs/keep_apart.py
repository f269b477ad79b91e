"""Required anti-affinity, on the host and on any other label, beyond the pods of one gang."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, Hold
from fourleaf.model.node_constraint import HOSTNAME, NODE_NAME_FIELD, Operator, Requirement
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.pods.anti_affinity import Neighbours
from fourleaf.model.readers.pods.node_constraints import AntiAffinity, narrowed
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.reasons.kinds import ReasonKind


def keep_apart(drafts: Sequence[Draft], running: Neighbours, fabric: Fabric) -> None:
    """Change `drafts` such that no plan puts two pods on one node that must not share it.

    Nodes with running pods that a gang repels, or that repel it, are taken from its eligible
    nodes, and so are all that share their value of another label. Of waiting gangs that repel
    each other, the first goes ahead and the others wait until it is bound: which nodes it takes
    is not known before.
    """
    repelling = any(pod.wants.spread for draft in drafts for pod in draft.waiting)
    if not repelling and not running.any_repels:
        return
    labels = {node.name: node.labels for leaf in fabric.leaves for node in leaf.nodes}
    samples = {draft.gang.key: _distinct(draft.waiting) for draft in drafts}
    for draft in drafts:
        _avoid(draft, samples[draft.gang.key], running, labels)
    if not repelling:
        return
    ahead = Neighbours()
    turns: dict[int, Draft] = {}
    for draft in sorted((one for one in drafts if one.gang.hold is None), key=_order):
        some = samples[draft.gang.key]
        clashes = {id(other) for pod in some for other, _ in ahead.minding(pod)}
        if clashes:
            # Those ahead stand in `turns` in the order of their turns.
            _let_go_first(draft, next(turns[pod] for pod in turns if pod in clashes))
            continue
        for pod in some:
            turns[id(pod)] = draft
            ahead.add(pod)


def _avoid(
    draft: Draft,
    samples: Iterable[Pod],
    running: Neighbours,
    labels: Mapping[str, Mapping[str, str]],
) -> None:
    """Take the nodes of repelled and repelling running pods from the gang's nodes.

    `labels` are those of each node of the fabric.
    """
    members = {id(pod) for pod in draft.bound}
    taken: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        for pod, key in running.minding(sample):
            if id(pod) in members:
                continue
            if key == HOSTNAME:
                taken[NODE_NAME_FIELD].add(pod.node)
            elif key in labels.get(pod.node, {}):
                taken[key].add(labels[pod.node][key])
    for key, values in sorted(taken.items()):
        is_field = key == NODE_NAME_FIELD
        away = Requirement(key, Operator.NOT_IN, tuple(sorted(values)), is_field)
        draft.gang = replace(
            draft.gang,
            roles=tuple(
                replace(role, constraint=narrowed(role.constraint, away)) if role.pods else role
                for role in draft.gang.roles
            ),
        )


def _distinct(pods: Sequence[Pod]) -> list[Pod]:
    """One pod for each set of labels and terms: the others repel and are repelled alike."""
    found: dict[tuple[tuple[AntiAffinity, ...], tuple[tuple[str, str], ...]], Pod] = {}
    for pod in pods:
        found.setdefault((pod.wants.spread, tuple(sorted(pod.labels.items()))), pod)
    return list(found.values())


def _order(draft: Draft) -> tuple[int, float, object]:
    gang: Gang = draft.gang
    return -gang.priority, gang.created, gang.key


def _let_go_first(draft: Draft, first: Draft) -> None:
    name = first.gang.key
    draft.gang = replace(
        draft.gang,
        hold=Hold(
            ReasonKind.WAITS_FOR_GANG,
            f"pod anti-affinity keeps it off the nodes of gang {name}, which goes first",
            (),
            (f"It is planned once gang {name} is bound.",),
        ),
    )
