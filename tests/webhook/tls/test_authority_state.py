"""When the authority and its certificate move on, step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.webhook.tls.authority_state import AuthorityState, Lifetimes, advanced, begun
from fourleaf.webhook.tls.issue import hosts_of, is_issued_by
from fourleaf.webhook.tls.pair import BrokenPair
from fourleaf.webhook.tls.secret import from_secret, to_secret
from tests.webhook.tls.made import DAY, HOSTS, START

LIVES = Lifetimes(authority=30 * DAY, serving=3 * DAY, settle=60, overlap=3600)


def at(state: AuthorityState, now: float, *, in_place: bool = True) -> AuthorityState:
    """The state as it should be so many seconds after its start."""
    return advanced(state, START + now, HOSTS, LIVES, in_place=in_place)


def test_nothing_moves_before_its_time() -> None:
    """Two thirds of three days are two."""
    state = begun(START, HOSTS, LIVES, 1)
    assert at(state, 2 * DAY - 10) == state
    assert at(state, 2 * DAY - 10, in_place=False) == state


def test_a_certificate_is_renewed_by_the_same_authority() -> None:
    """The bundle is what it was, so nobody has to hear of it."""
    state = begun(START, HOSTS, LIVES, 1)
    after = at(state, 2 * DAY + 10)
    assert after.serving != state.serving
    assert (after.bundle, after.generation) == (state.bundle, state.generation)
    assert after.serving.not_after == START + 2 * DAY + 10 + 3 * DAY


def test_an_authority_is_replaced_in_three_steps() -> None:
    """Announce, switch, drop; whatever is shown is always trusted."""
    first = replace(begun(START, HOSTS, LIVES, 1), since=START)
    announced = at(first, 20 * DAY + 10)
    assert announced.following is not None
    assert announced.generation == 2
    assert announced.bundle == first.bundle + announced.following.certificate
    assert is_issued_by(announced.serving, first.authority.certificate)
    now = 20 * DAY + 10
    assert at(announced, now + 59) == announced
    assert at(announced, now + 61, in_place=False) == announced
    switched = at(announced, now + 61)
    assert switched.authority == announced.following
    assert is_issued_by(switched.serving, announced.following.certificate)
    assert first.authority.certificate in switched.bundle
    assert switched.generation == 2
    assert at(switched, now + 61 + 3599) == switched
    dropped = at(switched, now + 61 + 3600)
    assert dropped.bundle == announced.following.certificate
    assert dropped.generation == 3
    assert at(dropped, now + 61 + 3601) == dropped


def test_after_a_long_sleep_everything_is_new() -> None:
    """An authority that has ended cannot introduce its successor."""
    state = begun(START, HOSTS, LIVES, 7)
    after = at(state, 31 * DAY)
    assert after.authority != state.authority
    assert (after.generation, after.former, after.following) == (8, b"", None)


def test_other_hosts_are_taken_in() -> None:
    """Replicas that differ in their hosts agree on all of them, and then rest."""
    state = begun(START, ("a.svc",), LIVES, 1)
    both = advanced(state, START, ("b.svc",), LIVES, in_place=True)
    assert hosts_of(both.serving) == {"a.svc", "b.svc"}
    for hosts in (("a.svc",), ("b.svc",)):
        assert advanced(both, START, hosts, LIVES, in_place=True) == both


def test_what_cannot_serve_is_replaced() -> None:
    """A key that is not the certificate's, or a certificate of somebody else."""
    state, other = begun(START, HOSTS, LIVES, 1), begun(START, HOSTS, LIVES, 1)
    for serving in (other.serving, replace(state.serving, key=other.serving.key)):
        after = at(replace(state, serving=serving), 0)
        assert is_issued_by(after.serving, state.authority.certificate)
        assert at(after, 0) == after


def test_an_authority_that_cannot_issue_is_no_authority() -> None:
    """Its key is another's."""
    state, other = begun(START, HOSTS, LIVES, 1), begun(START, HOSTS, LIVES, 1)
    mixed = replace(state.authority, key=other.authority.key)
    with pytest.raises(BrokenPair, match="not that of its certificate"):
        at(replace(state, authority=mixed), 2 * DAY + 10)


def test_a_secret_keeps_it_whole() -> None:
    """There and back, in each step."""
    state = begun(START, HOSTS, LIVES, 1)
    announced = at(state, 20 * DAY + 10)
    switched = at(announced, 20 * DAY + 80)
    for one in (state, announced, switched):
        assert from_secret(to_secret("s", one)) == one


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"generation": "MQ=="},
        {**to_secret("s", begun(START, HOSTS, LIVES, 1))["data"], "since": "!!"},
        {**to_secret("s", begun(START, HOSTS, LIVES, 1))["data"], "generation": "eA=="},
        {**to_secret("s", begun(START, HOSTS, LIVES, 1))["data"], "ca.key": 1},
    ],
    ids=lambda one: str(sorted(one or ()))[:30],
)
def test_what_is_no_vault(data: object) -> None:
    """Is said to be none."""
    with pytest.raises(BrokenPair, match="the Secret"):
        from_secret({"data": data})
