"""A certificate chain with its key, and whether they can serve."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509


class BrokenPair(ValueError):
    """The certificate and the key cannot serve. The message says why."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate chain, leaf first, and the private key of the leaf; both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)

    @property
    def leaf(self) -> x509.Certificate:
        """The certificate that the server shows. Raises `BrokenPair`."""
        try:
            return x509.load_pem_x509_certificate(self.certificate)
        except ValueError as error:
            raise BrokenPair(f"there is no certificate in PEM: {error}") from None

    @property
    def not_after(self) -> float:
        """When the certificate ends, in seconds since the epoch. Raises `BrokenPair`."""
        return self.leaf.not_valid_after_utc.timestamp()


def new_context() -> ssl.SSLContext:
    """A context of a server, TLS 1.2 and newer, without a certificate yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def context_of(pair: Pair, now: float) -> ssl.SSLContext:
    """A context that serves `pair`. Raises `BrokenPair` where it could not serve at `now`.

    `now` is in seconds since the epoch.
    """
    leaf = pair.leaf
    moment = datetime.fromtimestamp(now, UTC)
    if leaf.not_valid_after_utc <= moment:
        raise BrokenPair(f"the certificate ended at {leaf.not_valid_after_utc.isoformat()}")
    if leaf.not_valid_before_utc > moment:
        raise BrokenPair(f"the certificate begins at {leaf.not_valid_before_utc.isoformat()}")
    context = new_context()
    with _file(pair.certificate) as certificate, _file(pair.key) as key:
        try:
            context.load_cert_chain(certificate, key, _no_password)
        except (ssl.SSLError, ValueError) as error:
            raise BrokenPair(f"the key cannot be used with the certificate: {error}") from None
    return context


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    """A file in memory, because OpenSSL takes nothing else and keys do not belong on disks."""
    number = os.memfd_create("fourleaf", os.MFD_CLOEXEC)
    try:
        os.write(number, content)
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)


def _no_password() -> str:
    # Without this, OpenSSL would ask the terminal for the password of an encrypted key.
    raise BrokenPair("the key is encrypted")
