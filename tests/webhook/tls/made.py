"""Certificates of other kinds than ours, and a clock that is set by hand."""

from __future__ import annotations

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from fourleaf.webhook.tls.pair import Pair

HOSTS = ("hook.kube-system.svc", "127.0.0.1")
START = 1_800_000_000.0
DAY = 86_400.0


class SetClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def wall(self) -> float:
        """The moment it is set to."""
        return self.now

    def monotonic(self) -> float:
        """The same."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Move on at once."""
        self.now += seconds


def rsa_pair(begins: float, ends: float, password: bytes | None = None) -> Pair:
    """A self-signed certificate for 127.0.0.1 with an RSA key, as other issuers make them."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "rsa")])
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.datetime.fromtimestamp(begins, datetime.UTC))
        .not_valid_after(datetime.datetime.fromtimestamp(ends, datetime.UTC))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    lock = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    return Pair(
        built.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, lock
        ),
    )
