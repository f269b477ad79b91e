"""What we issue is what verifiers take."""

from __future__ import annotations

import datetime

from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from fourleaf.webhook.tls.issue import hosts_of, is_issued_by, issued, new_authority
from tests.webhook.tls.made import DAY, HOSTS, START


def test_a_verifier_takes_it_for_its_hosts() -> None:
    """By the rules of RFC 5280, for the name and not for another."""
    authority = new_authority(START, 10 * DAY)
    pair = issued(authority, HOSTS, START, DAY)
    store = Store([x509.load_pem_x509_certificate(authority.certificate)])
    moment = datetime.datetime.fromtimestamp(START + 60, datetime.UTC)
    policy = PolicyBuilder().store(store).time(moment)
    verifier = policy.build_server_verifier(x509.DNSName("hook.kube-system.svc"))
    assert len(verifier.verify(pair.leaf, [])) == 2
    assert hosts_of(pair) == frozenset(HOSTS)


def test_who_issued_it() -> None:
    """Its authority, and not another of the same name."""
    authority, twin = new_authority(START, DAY), new_authority(START, DAY)
    pair = issued(authority, HOSTS, START, DAY)
    assert is_issued_by(pair, authority.certificate)
    assert not is_issued_by(pair, twin.certificate)
