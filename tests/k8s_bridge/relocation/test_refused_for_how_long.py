"""For how long a refusal keeps a pod out of plans: doubled each time, up to ten minutes."""

from __future__ import annotations

import asyncio
import contextlib
from typing import cast

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding_trials import StillAsked
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.relocation.evictions.dry_run import EvictionDryRun
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation
from fourleaf.model.gang import GangKey
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


class Unheard:
    """An observer that tells nothing."""

    def forbidden(self, one: Relocation, leaver: Leaver, why: str) -> None:
        """Tell nothing."""


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
        cast("RelocationObserver", Unheard()),
        asyncio.ensure_future,
    )


def asking(pod: Target) -> Relocation:
    """A relocation for which the pod is to go."""
    return Relocation(GangKey("ml", "top"), Purpose.PREEMPTION, (), (Leaver(pod, "n"),))


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


async def test_who_kept_one_in_spite_makes_way_for_no_other_for_hours(
    clock: VirtualClock, trials: EvictionTrials
) -> None:
    """No pod of that controller goes for others for 1, 2, 4, at most 24 hours; repairs may."""
    for hours in (1, 2, 4, 8, 16, 24, 24):
        trials.remember_kept("ml", "owner", "the last one stays")
        trials.remember_kept("ml", "owner", "the last one stays")
        await clock.advance(hours * 3600 - 1)
        (limit,) = trials.kept_in_spite([("ml", "g-0")])
        assert limit.most == 0, hours
        assert "another one of its controller was kept: the last one stays" in limit.who, hours
        assert not stays(trials), hours
        await clock.advance(2)
        assert not trials.kept_in_spite([("ml", "g-0")]), hours
    await clock.advance(86_400)
    assert not trials.kept_in_spite([("ml", "g-0")])
    trials.remember_kept("ml", "owner", "no")
    trials.remember_kept("ml", "", "no")
    await clock.advance(3601)
    assert not trials.kept_in_spite([("ml", "g-0")])


async def test_pods_that_are_gone_are_forgotten(trials: EvictionTrials) -> None:
    """There are ever more of them, and none comes back under its UID."""
    gone = Target("ml", "gone", "another")
    trials.remember(POD, "no", spite=True)
    trials.remember(gone, "no", spite=True)
    assert not await trials.refusals([])
    assert trials.was_refused(POD)
    assert not trials.was_refused(gone)


class SilentDryRun:
    """A dry run that is not answered."""

    async def refusal(self, _: Target) -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return ""


async def test_silence_shortens_no_refusal(clock: VirtualClock, trials: EvictionTrials) -> None:
    """It was refused for a minute; that nothing is answered after that says nothing new."""
    trials.remember(POD, "no")
    trials.dry_run = cast("EvictionDryRun", SilentDryRun())
    asked = asyncio.ensure_future(trials.refusals([asking(POD)]))
    with contextlib.suppress(StillAsked):
        await clock.advance(11)
        await asked
    with contextlib.suppress(StillAsked):
        await trials.refusals([asking(POD)])
    await clock.advance(25)
    assert stays(trials)
    await clock.advance(30)
    assert not stays(trials)
