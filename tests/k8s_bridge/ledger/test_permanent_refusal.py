"""Which refusal is the last word: at once, or after a while in which nothing else was said."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.ledger.permanent_refusal import (
    PERMANENT_AFTER_SECONDS,
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
