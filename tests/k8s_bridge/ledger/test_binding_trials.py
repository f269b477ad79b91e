"""Answers to dry runs for which no one waits any longer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.dry_run import DryRun, Unanswered, Unsaid, unheard
from fourleaf.k8s_bridge.ledger.ledger import Commit
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.gang import GangKey
from tests.twins.virtual_clock import VirtualClock

GANG = GangKey("ml", "g")
MEMBERS = (Member(Target("ml", "g-0", "uid"), "n1"),)


class Answers:
    """A dry run that is not answered the first time, and at once from then on."""

    def __init__(self) -> None:
        self.asked = 0

    def is_due(self, namespace: str, ask: bool = False) -> bool:
        """Always."""
        return True

    async def refusal(
        self, members: Sequence[Member], ask: bool = False, unsaid: Unsaid = unheard
    ) -> str:
        """No answer, then that nothing is refused."""
        self.asked += 1
        if self.asked == 1:
            raise Unanswered("no answer")
        for _ in range(50):
            await asyncio.sleep(0)
        return ""


async def test_an_answer_at_once_is_heard_where_none_waited() -> None:
    """After silence there is no patience: what comes right behind it has to start a cycle."""
    clock, woken = VirtualClock(), list[int]()
    trials = BindingTrials(
        cast("DryRun", Answers()), clock, asyncio.ensure_future, lambda: woken.append(1)
    )
    with pytest.raises(StillAsked):
        await trials.refusal(GANG, MEMBERS)
    assert len(woken) == 1, "the silence is over: it may be asked again"
    asking = asyncio.ensure_future(trials.refusal(GANG, MEMBERS))
    await clock.advance(0)
    with pytest.raises(StillAsked):
        await asking
    await clock.advance(0.5)
    assert len(woken) == 2
    assert await trials.refusal(GANG, MEMBERS) == ""


class Asked:
    """A dry run that refuses nothing, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    def is_due(self, namespace: str, ask: bool = False) -> bool:
        """Always."""
        return True

    def rolled_back(self, namespace: str) -> None:
        """It has not told what would come."""

    async def refusal(
        self, members: Sequence[Member], ask: bool = False, unsaid: object = None
    ) -> str:
        """Nothing is refused."""
        self.asked += 1
        return ""


async def test_what_was_refused_counts_for_ten_minutes() -> None:
    """No pod goes for a gang that the API refused 599 s ago, and 601 s later it is asked anew."""
    clock, dry_run = VirtualClock(), Asked()
    trials = BindingTrials(cast("DryRun", dry_run), clock, asyncio.ensure_future, lambda: None)
    trials.went_back(Commit("c", GANG, None, MEMBERS, ()), "a policy forbids it", is_refused=True)
    await clock.advance(599)
    assert "a policy forbids it" in await trials.refusal(GANG, MEMBERS, ask=True)
    assert dry_run.asked == 0
    await clock.advance(2)
    assert await trials.refusal(GANG, MEMBERS, ask=True) == ""
    assert dry_run.asked == 1


@pytest.mark.parametrize(("age", "asked"), [(59, 2), (61, 3)])
async def test_a_late_answer_counts_for_a_minute(age: int, asked: int) -> None:
    """No plan has used it so far: a webhook may think otherwise after that."""
    clock, dry_run = VirtualClock(), Answers()
    trials = BindingTrials(cast("DryRun", dry_run), clock, asyncio.ensure_future, lambda: None)
    for _ in range(2):
        with pytest.raises(StillAsked):
            await trials.refusal(GANG, MEMBERS)
    await clock.advance(age)
    assert await trials.refusal(GANG, MEMBERS) == ""
    assert dry_run.asked == asked
