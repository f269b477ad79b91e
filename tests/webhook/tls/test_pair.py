"""Which pairs can serve."""

from __future__ import annotations

import pytest

from fourleaf.webhook.tls.issue import issued, new_authority
from fourleaf.webhook.tls.pair import BrokenPair, Pair, context_of
from tests.webhook.tls.made import DAY, HOSTS, START, rsa_pair

AUTHORITY = new_authority(START, 10 * DAY)
GOOD = issued(AUTHORITY, HOSTS, START, DAY)
OTHER = issued(AUTHORITY, HOSTS, START, DAY)


def test_good_ones_serve() -> None:
    """Ours, and RSA."""
    for pair in (GOOD, rsa_pair(START - 1, START + DAY)):
        assert context_of(pair, START).get_ca_certs() == []


@pytest.mark.parametrize(
    ("pair", "now", "why"),
    [
        (Pair(b"", b""), START, "no certificate in PEM"),
        (Pair(b"nonsense", GOOD.key), START, "no certificate in PEM"),
        (Pair(GOOD.certificate[:200], GOOD.key), START, "no certificate in PEM"),
        (Pair(GOOD.certificate, b""), START, "the key cannot be used"),
        (Pair(GOOD.certificate, GOOD.key[:60]), START, "the key cannot be used"),
        (Pair(GOOD.certificate, OTHER.key), START, "the key cannot be used"),
        (rsa_pair(START, START + DAY, b"secret"), START, "the key is encrypted"),
        (GOOD, START + DAY, "the certificate ended"),
        (GOOD, START - DAY, "the certificate begins"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_broken_ones_do_not(pair: Pair, now: float, why: str) -> None:
    """With the reason."""
    with pytest.raises(BrokenPair, match=why):
        context_of(pair, now)


def test_keys_stay_out_of_what_is_printed() -> None:
    """A pair in a log line or a traceback shows no key."""
    assert "PRIVATE" not in f"{GOOD!r} {AUTHORITY!r}"
