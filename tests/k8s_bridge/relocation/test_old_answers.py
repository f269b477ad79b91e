"""For how long an answer counts whether a pod may be evicted, where no plan has used it."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding_trials import TRIAL_VALID_SECONDS, StillAsked
from fourleaf.k8s_bridge.relocation.evictions.dry_run import EvictionDryRun
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation
from fourleaf.model.gang import GangKey
from tests.twins.virtual_clock import VirtualClock

POD = Target("ml", "g-0", "uid")
MOVES = Relocation(GangKey("ml", "g"), Purpose.REPAIR, (), (Leaver(POD, "n"),))
BUDGET = "a budget of its own"


class Slow:
    """An API that takes two seconds to say `why` no pod may go, "" where each may."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.why = ""

    async def refusal(self, pod: Target) -> str:
        """What it says now, two seconds later."""
        why = self.why
        await self.clock.sleep(2)
        return why


class Silent:
    """Hears of refusals, and knows all pods."""

    def forbidden(self, one: Relocation, leaver: Leaver, why: str) -> None:
        """Nothing."""

    def seen(self, uid: str) -> object:
        """It is there."""
        return uid


@pytest.mark.parametrize(("seconds", "is_old"), [(-1.0, False), (1.0, True)])
async def test_an_answer_that_no_plan_has_used_counts_for_a_minute(
    seconds: float, is_old: bool
) -> None:
    """A pod may go when it is asked for; a budget forbids it later, which a new trial finds out."""
    clock = VirtualClock()
    api, others = Slow(clock), Silent()
    trials = EvictionTrials(
        cast("EvictionDryRun", api),
        cast("ClusterCache", others),
        clock,
        cast("RelocationObserver", others),
        asyncio.ensure_future,
    )
    with pytest.raises(StillAsked):
        await clock.run(trials.refusals([MOVES]))
    await clock.advance(1)
    api.why = BUDGET
    await clock.advance(TRIAL_VALID_SECONDS + seconds)
    if not is_old:
        assert await clock.run(trials.refusals([MOVES])) == []
        return
    with pytest.raises(StillAsked):
        await clock.run(trials.refusals([MOVES]))
    await clock.advance(2)
    assert [one.why for one in await clock.run(trials.refusals([MOVES]))] == [BUDGET]
