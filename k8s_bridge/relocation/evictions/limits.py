"""Eviction limits of a relocation plan: budgets, what was refused, what is under way already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.model.running_gang import EvictionLimit, PodName, StandingGang


def eviction_limits(
    view: ClusterView,
    standing: Iterable[StandingGang],
    trials: EvictionTrials,
    more: Sequence[EvictionLimit] = (),
    unanswered: bool = False,
) -> tuple[EvictionLimit, ...]:
    """What may be evicted of these gangs now, those limits that can bind; `more` hold beside.

    Pods of dead nodes are evicted whatever budgets say, since they hold up their replacements. A
    pod that a relocation is about to evict counts as evicted: its budget does not know it yet.
    Where `unanswered`, pods about which the API has not answered yet stay.
    """
    members = [pod for one in standing for pod in one.members if _lives(view, pod)]
    going = {
        (leaver.pod.namespace, leaver.pod.name)
        for one in view.open
        for leaver in one.leavers
        if not leaver.lost and view.stands(leaver.pod.uid, leaver.node)
    }
    found = [
        *view.cache.eviction_limits(dict.fromkeys((*members, *sorted(going)))),
        *trials.limits(members, unanswered),
        *more,
    ]
    charged = (_charged(limit, going) for limit in found)
    return tuple(limit for limit in charged if len(limit.pods) > limit.most)


class LimitsByPod:
    """Limits of evictions by the pods that they count: a gang looks at its own alone."""

    def __init__(self, limits: Iterable[EvictionLimit]) -> None:
        self._of: dict[PodName, list[EvictionLimit]] = {}
        for limit in limits:
            for pod in limit.pods:
                self._of.setdefault(pod, []).append(limit)

    def of(self, one: StandingGang) -> tuple[EvictionLimit, ...]:
        """The limits that count members of a gang, each once."""
        found = {id(limit): limit for pod in one.members for limit in self._of.get(pod, ())}
        return tuple(found.values())

    def may_go(self, one: StandingGang) -> bool:
        """Whether a gang could be evicted whole, if no other was."""
        members = frozenset(one.members)
        return all(len(limit.pods & members) <= limit.most for limit in self.of(one))


def _charged(limit: EvictionLimit, going: set[PodName]) -> EvictionLimit:
    taken = len(limit.pods & going)
    return replace(limit, most=max(0, limit.most - taken)) if taken else limit


def _lives(view: ClusterView, pod: PodName) -> bool:
    """Whether the pod stands on a node that is not dead."""
    seen = view.cache.named(*pod)
    return seen is not None and bool(seen.node) and seen.node not in view.dead
