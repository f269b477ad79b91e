"""Which refusal is the last word: at once, or after a while in which nothing else was said."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused, Throttled
from fourleaf.k8s_bridge.ledger.permanent_refusal import (
    PERMANENT_AFTER_SECONDS,
    PERMANENT_ROWS,
    PermanentRefusals,
)
from tests.k8s_bridge.ledger.harness import InstantClock


@pytest.mark.parametrize("status", [401, 403])
def test_who_may_not_write_may_have_come_too_early(status: int) -> None:
    """A server that has just started knows no account, and no right: it is asked for a while."""
    clock = InstantClock()
    refusals = PermanentRefusals(clock)
    assert not refusals.for_good(Refused("no", status))
    clock.now += PERMANENT_AFTER_SECONDS - 1.0
    assert not refusals.for_good(Refused("no", status))
    clock.now += 1.0
    assert refusals.for_good(Refused("no", status))


def test_what_is_wrong_stays_wrong() -> None:
    """Its body is refused, and the same body will be."""
    assert PermanentRefusals(InstantClock()).for_good(Refused("invalid", 422))


def test_another_answer_has_it_counted_anew() -> None:
    """Two refusals with something else between them are two moments, however far apart."""
    clock = InstantClock()
    refusals = PermanentRefusals(clock)
    assert not refusals.for_good(Refused("no", 403))
    clock.now += PERMANENT_AFTER_SECONDS
    refusals.interrupted()
    assert not refusals.for_good(Refused("no", 403))
    clock.now += PERMANENT_AFTER_SECONDS
    assert refusals.for_good(Refused("no", 403))


def test_what_is_put_off_between_refusals_is_refused_for_good() -> None:
    """A 429 says nothing of the request: three rows may be bad moments, a fourth is the answer."""
    clock = InstantClock()
    refusals = PermanentRefusals(clock)
    for _ in range(PERMANENT_ROWS - 1):
        assert not refusals.for_good(Refused("no", 403))
        refusals.unsaid(Throttled("too many", 429))
        clock.now += PERMANENT_AFTER_SECONDS
    assert refusals.for_good(Refused("no", 403))


def test_rows_of_one_moment_are_not_refused_for_good() -> None:
    """However many of them there are, they count only once the first is seconds old."""
    clock = InstantClock()
    refusals = PermanentRefusals(clock)
    for _ in range(2 * PERMANENT_ROWS):
        assert not refusals.for_good(Refused("no", 403))
        refusals.unsaid(Throttled("too many", 429))
        clock.now += PERMANENT_AFTER_SECONDS / 10
    clock.now += PERMANENT_AFTER_SECONDS
    assert refusals.for_good(Refused("no", 403))


def test_an_answer_that_may_have_got_lost_has_rows_counted_anew() -> None:
    """It may have been done: only requests that surely were not leave the rows as they are."""
    clock = InstantClock()
    refusals = PermanentRefusals(clock)
    for _ in range(2 * PERMANENT_ROWS):
        assert not refusals.for_good(Refused("no", 403))
        refusals.unsaid(Ambiguous("no answer"))
        clock.now += PERMANENT_AFTER_SECONDS
