"""For how long a refusal keeps a pod out of plans: doubled each time, up to ten minutes."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.relocation.evictions.dry_run import EvictionDryRun
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from tests.twins.virtual_clock import VirtualClock

POD = Target("ml", "g-0", "uid")


class OnePod:
    """A cache that has seen one pod of a controller."""

    def seen(self, uid: str) -> PodSeen | None:
        """That pod, by its UID."""
        return PodSeen(POD, "n", controller="owner") if uid == POD.uid else None

    def named(self, namespace: str, name: str) -> PodSeen:
        """That pod."""
        return PodSeen(POD, "n", controller="owner")


@pytest.fixture
def clock() -> VirtualClock:
    """At its beginning."""
    return VirtualClock()


@pytest.fixture
def trials(clock: VirtualClock) -> EvictionTrials:
    """Those of a term in which nothing is asked."""
    return EvictionTrials(
        cast("EvictionDryRun", None),
        cast("ClusterCache", OnePod()),
        clock,
        cast("RelocationObserver", None),
        asyncio.ensure_future,
    )


def stays(trials: EvictionTrials) -> bool:
    """Whether no plan may let the pod go."""
    return bool(trials.limits([("ml", "g-0")], unanswered=False))


async def test_refusals_in_a_row_keep_a_pod_for_longer_up_to_ten_minutes(
    clock: VirtualClock, trials: EvictionTrials
) -> None:
    """1, 2, 4, 8 and then 10 minutes, each from the moment of the refusal, and no longer."""
    for seconds in (60, 120, 240, 480, 600, 600):
        trials.remember(POD, "no")
        await clock.advance(seconds - 1)
        assert stays(trials), seconds
        await clock.advance(2)
        assert not stays(trials), seconds


@pytest.mark.parametrize(("quiet", "again"), [(590, 120), (610, 60)])
async def test_ten_quiet_minutes_start_it_afresh(
    clock: VirtualClock, trials: EvictionTrials, quiet: int, again: int
) -> None:
    """Refused again within ten minutes of the end of a wait it stays for two, later for one."""
    trials.remember(POD, "no")
    await clock.advance(60 + quiet)
    trials.remember(POD, "no")
    await clock.advance(again - 1)
    assert stays(trials)
    await clock.advance(2)
    assert not stays(trials)


async def test_an_owner_whose_pod_never_ended_is_spared_for_ten_minutes(
    clock: VirtualClock, trials: EvictionTrials
) -> None:
    """No pod of that controller goes for 600 s, and each may after that."""
    trials.remember_owner(POD.namespace, "owner")
    await clock.advance(599)
    assert stays(trials)
    await clock.advance(2)
    assert not stays(trials)


async def test_pods_that_are_gone_are_forgotten(trials: EvictionTrials) -> None:
    """There are ever more of them, and none comes back under its UID."""
    gone = Target("ml", "gone", "another")
    trials.remember(POD, "no", spite=True)
    trials.remember(gone, "no", spite=True)
    assert not await trials.refusals([])
    assert trials.was_refused(POD)
    assert not trials.was_refused(gone)
