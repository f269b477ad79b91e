"""Authorities and certificates of our own, with keys on P-256."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fourleaf.webhook.tls.pair import BrokenPair, Pair

BACKDATED_SECONDS = 3600.0
"""Seconds that a certificate begins before it is made, for clocks that are behind."""


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate that issues others, and its key; both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


def new_authority(now: float, seconds: float) -> Authority:
    """An authority for that long from `now`, in seconds since the epoch."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"fourleaf webhook authority {int(now)}")
    built = (
        _builder(name, name, key.public_key(), now, seconds)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(_identifier(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Authority(_pem(built), _key_pem(key))


def issued(authority: Authority, hosts: Sequence[str], now: float, seconds: float) -> Pair:
    """A serving certificate for `hosts`, names or addresses. Raises `BrokenPair`."""
    try:
        issuer = x509.load_pem_x509_certificate(authority.certificate)
        signer = serialization.load_pem_private_key(authority.key, None)
    except (ValueError, TypeError) as error:
        raise BrokenPair(f"the authority cannot be read: {error}") from None
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise BrokenPair("the key of the authority is of another kind than ours are")
    if signer.public_key() != issuer.public_key():
        raise BrokenPair("the key of the authority is not that of its certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    built = (
        _builder(_name(hosts[0][:64]), issuer.subject, key.public_key(), now, seconds)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_host(one) for one in hosts]), critical=False)
        .add_extension(_identifier(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .sign(signer, hashes.SHA256())
    )
    return Pair(_pem(built), _key_pem(key))


def is_issued_by(pair: Pair, certificate: bytes) -> bool:
    """Whether the authority with that certificate issued `pair`. Raises `BrokenPair`."""
    issuer = Pair(certificate, b"").leaf
    try:
        pair.leaf.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def hosts_of(pair: Pair) -> frozenset[str]:
    """The names and addresses that the certificate of `pair` is for. Raises `BrokenPair`."""
    try:
        names = pair.leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    return frozenset(str(one.value) for one in names)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: float,
    seconds: float,
) -> x509.CertificateBuilder:
    moment = datetime.fromtimestamp(int(now), UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment - timedelta(seconds=BACKDATED_SECONDS))
        .not_valid_after(moment + timedelta(seconds=seconds))
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _identifier(key: ec.EllipticCurvePublicKey) -> x509.SubjectKeyIdentifier:
    return x509.SubjectKeyIdentifier.from_public_key(key)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
