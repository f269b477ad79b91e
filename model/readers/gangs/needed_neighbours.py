"""Running pods that a waiting gang needs where they are: without them its place would be none.

Required affinity and topology spread are read against the pods that run. A preemption that evicts
one of them may take the place from the very gang that it is for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.kept_apart import Nodes, label_of
from fourleaf.model.readers.gangs.mind_others import picked_by_all
from fourleaf.model.readers.gangs.spread_values import SpreadValues, emptiest
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.running_gang import EvictionLimit


def needed_neighbours(draft: Draft, running: Neighbours, nodes: Nodes) -> tuple[EvictionLimit, ...]:
    """How many of its neighbours a gang can do without, whichever of its places it gets."""
    if not draft.minds_others:
        return ()
    values = SpreadValues(running, nodes)
    found: list[EvictionLimit] = []
    for alike in draft.kinds:
        found += _one_at_each(alike[0], running, nodes)
        found += _as_many_as_at_the_emptiest(alike[0], values)
    return tuple(found)


def _one_at_each(pod: Pod, running: Neighbours, nodes: Nodes) -> Iterator[EvictionLimit]:
    """Of the pods that it must be near, one stays at each value of the label."""
    there: dict[tuple[str, str], list[Pod]] = defaultdict(list)
    for other in picked_by_all(pod.wants.near, running) if pod.wants.near else ():
        for term in pod.wants.near:
            value = label_of(nodes, other.node, term.key)
            if value is not None:
                there[term.field, value].append(other)
    for (field, value), some in there.items():
        yield _limit(pod, f"{field} at {value}", some, len(some) - 1)


def _as_many_as_at_the_emptiest(pod: Pod, values: SpreadValues) -> Iterator[EvictionLimit]:
    """No value of the label comes to have fewer pods than the one that has fewest now."""
    for spread in pod.wants.spread:
        there = values.standing(pod.wants, spread)
        least = emptiest(there, spread)
        for value, some in there.items() if least else ():
            yield _limit(pod, f"{spread.term.field} at {value}", some, len(some) - least)


def _limit(pod: Pod, what: str, some: Iterable[Pod], most: int) -> EvictionLimit:
    names = frozenset((one.namespace, one.name) for one in some)
    return EvictionLimit(f"{pod.manifest.title}: {what}", names, most)
