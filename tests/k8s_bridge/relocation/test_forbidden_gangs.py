"""A gang that limits of evictions keep waiting is asked about again once anything is otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.relocation.evictions.forbidden_gangs import (
    FORBIDDEN_RETRY_SECONDS,
    ForbiddenGangs,
    KeptPlaces,
)
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import EvictionLimit, StandingGang
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.ledger.harness import InstantClock
from tests.small import config, fabric, gang
from tests.standing import stood

WAITS = gang("top", 2)
LOWER = stood("below", ["a0", "a1"])
LIMIT = EvictionLimit("budget", frozenset(LOWER.members), 0)
SEEN = Snapshot(fabric([[2]]), (), (WAITS,), config(), 10_000.0)
WHY = Reason(ReasonKind.NO_FREE_CAPACITY, "budget", (("limits", 1),))

KEPT: KeptPlaces = frozenset({(gang("x", 2).key, 9_000.0)})
"""A place is kept for another gang."""

Asked = tuple[Snapshot, list[StandingGang], tuple[EvictionLimit, ...]]


def noted() -> ForbiddenGangs:
    """A term in which it was found that the limit alone keeps the gang waiting."""
    known = ForbiddenGangs(InstantClock())
    known.note(WAITS, [LOWER], (LIMIT,), SEEN, KEPT, WHY)
    return known


def knows(known: ForbiddenGangs, asked: Asked, kept: KeptPlaces | None = None) -> bool:
    """Whether that still holds for the gang as it stands in the snapshot, and these places."""
    snapshot, lower, limits = asked
    known.look(snapshot.running, {WAITS.key})
    return known.knows(snapshot.gangs[0], lower, limits, snapshot, KEPT if kept is None else kept)


def as_before() -> Asked:
    """What was asked."""
    return SEEN, [LOWER], (LIMIT,)


def on_another_fabric() -> Asked:
    """A node was added, or has another label."""
    return replace(SEEN, fabric=fabric([[2]])), [LOWER], (LIMIT,)


def under_another_config() -> Asked:
    """The config was edited."""
    return replace(SEEN, config=config()), [LOWER], (LIMIT,)


def for_less() -> Asked:
    """The gang asks for less by now."""
    role = replace(WAITS.roles[0], request=Resources(gpus=4))
    return replace(SEEN, gangs=(replace(WAITS, roles=(role,)),)), [LOWER], (LIMIT,)


def above_another() -> Asked:
    """One more gang is lower."""
    return SEEN, [LOWER, stood("other", ["a1"])], (LIMIT,)


def under_another_limit() -> Asked:
    """A budget lets one go."""
    return SEEN, [LOWER], (replace(LIMIT, most=1),)


def test_it_is_not_asked_again_where_nothing_has_changed() -> None:
    """Nor is it for ever: after ten minutes it is."""
    known = noted()
    assert knows(known, as_before())
    assert isinstance(known.clock, InstantClock)
    known.clock.now += FORBIDDEN_RETRY_SECONDS
    assert not knows(known, as_before())


@pytest.mark.parametrize(
    "change",
    [on_another_fabric, under_another_config, for_less, above_another, under_another_limit],
)
def test_it_is_asked_again_once_anything_is_otherwise(change: Callable[[], Asked]) -> None:
    """Whatever it was that changed may help it."""
    assert not knows(noted(), change())


def test_it_is_asked_again_once_a_place_is_no_longer_kept() -> None:
    """One more that is kept helps nothing; one that was given up may be the room that it lacked."""
    known, more = noted(), (gang("y", 2).key, 9_500.0)
    assert knows(known, as_before(), KEPT | {more})
    assert not knows(known, as_before(), frozenset({more}))


def test_a_gang_that_is_gone_is_forgotten() -> None:
    """One of its name that comes later is asked about anew."""
    known = noted()
    known.look((), ())
    assert not knows(known, as_before())
