"""Relocations hold in every schedule within bounds, and the search notices where not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from fourleaf.k8s_bridge.ledger import compaction, next_action
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.next_action import Action, Step
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_ending
from fourleaf.k8s_bridge.relocation import controller, reserved_seats
from fourleaf.k8s_bridge.relocation.executor import Executor
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from tests.explorer.code.scenario import Bounds
from tests.explorer.relocation.stories import (
    ALONE,
    DOUBTED,
    MOVE,
    PREEMPTION,
    REPAIR,
    RESERVATION,
    RETURNED,
)
from tests.explorer.relocation.story import Story
from tests.explorer.relocation.system import explore_story

IN_TURN = Bounds(faults=0, preemptions=0)
ONE_SWITCH = Bounds(faults=0, preemptions=1)
ONE_FAULT = Bounds(faults=1, preemptions=0)


@pytest.mark.parametrize(
    ("story", "bounds", "least"),
    [
        (REPAIR, ONE_SWITCH, 1500),
        (RETURNED, IN_TURN, 700),
        (DOUBTED, IN_TURN, 400),
        (ALONE, ONE_SWITCH, 1000),
        (MOVE, IN_TURN, 3000),
        (PREEMPTION, IN_TURN, 900),
        (RESERVATION, IN_TURN, 200),
    ],
    ids=lambda value: value.name if isinstance(value, Story) else "",
)
def test_no_schedule_breaks_a_promise(story: Story, bounds: Bounds, least: int) -> None:
    """Nobody goes without a record, nobody twice, no seat is given away, and all is whole."""
    explored = explore_story(story, bounds)
    assert explored.result.breach is None, explored.result.breach
    assert explored.result.complete
    assert explored.result.states >= least
    assert explored.crashes >= 30


@pytest.mark.parametrize(
    "story", [REPAIR, DOUBTED, ALONE, PREEMPTION, RESERVATION], ids=lambda story: story.name
)
def test_no_leader_that_waits_for_no_answer_breaks_a_promise(story: Story) -> None:
    """Requests about relocations go on beside all else: no pod goes without a record, or twice."""
    explored = explore_story(replace(story, is_hurried=True, whole=()), IN_TURN)
    assert explored.result.breach is None, explored.result.breach
    assert explored.result.complete
    assert explored.result.states >= 150
    assert explored.crashes >= 30


def test_no_fault_breaks_a_promise() -> None:
    """Every request of both leaders fails once, in every way, one schedule each."""
    explored = explore_story(ALONE, ONE_FAULT)
    assert explored.result.breach is None, explored.result.breach
    assert explored.result.complete
    assert explored.schedules >= 1000


def breach_of(story: Story, bounds: Bounds) -> str:
    """Why the search stopped."""
    breach = explore_story(story, bounds).result.breach
    assert breach is not None
    return breach.why


async def _by_name(self: Executor, one: Relocation, leaver: Leaver) -> None:
    await self.cluster.evict(replace(leaver.pod, uid=""))


def test_an_eviction_without_uid_meets_who_came_instead() -> None:
    """One that comes late tells the replacement of the same name to go."""
    with patch.object(Executor, "_evict", _by_name):
        assert "evicted" in breach_of(ALONE, ONE_FAULT)


async def _unwritten(self: RelocationStore, one: Relocation, *_: object) -> None:
    self._open[one.gang] = replace(one, version="1", epoch=self.epoch)


def test_an_eviction_before_its_record_is_noticed() -> None:
    """A relocation that nobody wrote down has no right to evict."""
    with patch.object(RelocationStore, "_write", _unwritten):
        assert "no leader ever said" in breach_of(REPAIR, IN_TURN)


def test_seats_that_are_not_charged_go_to_others() -> None:
    """The gang that comes late is planned first, and takes the place."""
    nothing: Any = lambda *_: []  # noqa: E731 - it stands for two functions
    with (
        patch.object(reserved_seats, "_seats", nothing),
        patch.object(controller, "kept", lambda *_: {}),
    ):
        assert "has kept" in breach_of(REPAIR, IN_TURN)


async def _as_found(self: RelocationStore, found: Relocation) -> None:
    self._open[found.gang] = replace(found, epoch=self.epoch)


def test_records_that_are_not_written_anew_are_dropped_by_the_old_leader() -> None:
    """What it deletes, having been replaced, is missing after a crash, and so is the place."""
    with patch.object(RelocationStore, "_claim", _as_found):
        assert "at rest gang g" in breach_of(DOUBTED, IN_TURN)


async def _unchecked(self: RelocationStore) -> None:
    return


def test_a_replaced_leader_evicts_on_a_record_that_nobody_has_seen() -> None:
    """Without a look at the epoch before an eviction, a member that is well goes."""
    with patch.object(RelocationStore, "check_lead", _unchecked):
        assert "no leader ever said" in breach_of(RETURNED, IN_TURN)


def _until_all_are_out(commit: Commit, _: Ledger, pods: PodLister) -> Step:
    """What is to be done for a commit that goes back, which keeps its members to the last."""
    held = tuple(one for one in commit.members if not compaction.is_out(commit.name, one, pods))
    if any(not is_ending(pods, member) for member in held):
        return Step(Action.BACK, held)
    return Step(Action.WAIT if held else Action.TIDY if commit.pages else Action.DROP)


def test_a_commit_that_goes_back_evicts_whom_a_later_one_has_bound() -> None:
    """A replaced leader that still undoes a refused commit does not look at who bound the pod.

    That it drops a member as soon as this one is fenced would hide it.
    """
    with (
        patch.object(next_action, "_back", _until_all_are_out),
        patch.object(compaction, "is_bound_by_another", lambda *_: False),
    ):
        assert "no leader ever said" in breach_of(RESERVATION, ONE_FAULT)


def test_late_records_stay_without_a_sweep() -> None:
    """A record that was made after the takeover is known to nobody who would delete it."""
    with patch.object(RelocationStore, "sweep", _unchecked):
        assert "at rest there is still" in breach_of(RETURNED, IN_TURN)
