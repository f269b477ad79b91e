"""Whether a plan evicts more pods than the limits let go: section 8, *Eviction limits*."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fourleaf.model.gang import GangKey
from fourleaf.model.running_gang import PodName
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.relocated_gangs import live, standing_of


def eviction_breaches(
    snapshot: Snapshot,
    gone: Collection[PodName],
    moved: Mapping[GangKey, Collection[str]],
    restarted: Collection[PodName] = (),
) -> Iterator[Breach]:
    """Every limit that counts too many.

    `gone` are the pods that go whatever the gang, `moved` the live members that go elsewhere, of
    which those alike may change places; `restarted` those of gangs that start over.
    """
    standing = standing_of(snapshot)
    for limit in snapshot.eviction_limits:
        counted = len(limit.pods.intersection(gone))
        for key, pods in moved.items():
            members = {(key.namespace, pod) for pod in live(standing[key])}
            counted += min(len(pods), len(limit.pods & members))
        left = max(0, limit.most - len(limit.pods.intersection(restarted)))
        if counted > left:
            detail = f"{counted} of its pods are evicted, {left} may be"
            yield Breach(Law.EVICTION, None, limit.who, detail)
