"""What keeps a gang back whose members repel each other, or are spread, beyond their node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.gang import Hold
from fourleaf.model.node_constraint import HOSTNAME
from fourleaf.model.readers.pods.pod_terms import PodTerm
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.reasons.kinds import ReasonKind

MOST_GANG_COMPARISONS = 40_000
"""Comparisons of the terms in which waiting members differ with all members, which are made."""


@dataclass(frozen=True, slots=True)
class _Picked:
    """How many members a term picks, and one of them."""

    count: int
    one: Pod | None


def members_apart(waiting: Sequence[Pod], bound: Sequence[Pod]) -> Hold | None:
    """The hold of the first member whose own gang is to be kept away from it, if any."""
    if len(waiting) + len(bound) < 2:
        return None
    members = [*waiting, *bound]
    terms = {term for pod in waiting for term in pod.wants.apart}
    comparisons = sum(term.selector.comparisons for term in terms)
    if comparisons * len(members) > MOST_GANG_COMPARISONS:
        return _too_many(len(terms), comparisons, len(members))
    picked = {term: _picked(term, members) for term in terms}
    for pod in waiting:
        for term in pod.wants.apart:
            found = picked[term]
            if not found.count or (term.key == HOSTNAME and found.count == len(members)):
                continue
            if found.count == 1 and found.one is pod:
                continue
            return Hold(
                ReasonKind.UNSUPPORTED,
                f"{pod.manifest.title}: {term.field} keeps members of one gang on different "
                f"{term.key}, which cannot be honoured",
                (),
                (f"Remove {term.field}, or let its selector pick other pods.",),
            )
        for spread in pod.wants.spread if len(waiting) > 1 else ():
            if spread.term.picks(pod.namespace, pod.labels):
                field = spread.term.field
                return Hold(
                    ReasonKind.UNSUPPORTED,
                    f"{pod.manifest.title}: {field} spreads members of one gang over "
                    f"{spread.term.key}, which cannot be honoured",
                    (),
                    (f"Let {field} be ScheduleAnyway, or its selector pick other pods.",),
                )
    return None


def _picked(term: PodTerm, members: Sequence[Pod]) -> _Picked:
    found = [one for one in members if term.picks(one.namespace, one.labels)]
    return _Picked(len(found), found[0] if found else None)


def _too_many(terms: int, comparisons: int, members: int) -> Hold:
    what = f"has {terms:,} different terms of anti-affinity among {members:,} members, above the "
    what += f"{MOST_GANG_COMPARISONS // members:,} of a gang of that size"
    if comparisons > terms:
        what += f"; by the length of their selectors they count as {comparisons:,}"
    return Hold(ReasonKind.UNSUPPORTED, what, (), ("Let members have the same terms.",))
