"""The keys of one control plane: serving certificates and a signing key, made by openssl."""

from __future__ import annotations

import ipaddress
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DAYS = 2
"""Longer than any run of the tests, short enough that a leaked key is worth nothing."""

CONFIG = """
[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = {name}
[extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, digitalSignature, keyCertSign
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid:always
subjectAltName = {hosts}
"""
"""Self-signed: whoever shall trust the server is given the certificate itself. Python 3.13 and
newer refuse it without the two identifiers."""

CURVE = "ec_paramgen_curve:P-256"


class OpensslError(RuntimeError):
    """openssl is missing or refused."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The PEM files of a certificate, which is its own authority, and of its private key."""

    certificate: Path
    key: Path


def serving(folder: Path, name: str, *hosts: str) -> Certificate:
    """Make a serving certificate for host names and addresses. Raises `OpensslError`."""
    found = Certificate(folder / f"{name}.crt", folder / f"{name}.key")
    config = folder / f"{name}.cnf"
    config.write_text(CONFIG.format(name=name, hosts=", ".join(map(_alternative, hosts))))
    issue = f"req -x509 -new -newkey ec -pkeyopt {CURVE} -nodes -days {DAYS}".split()
    files = ["-config", str(config), "-keyout", str(found.key), "-out", str(found.certificate)]
    _openssl([*issue, *files])
    return found


def signing_key(folder: Path, name: str) -> Path:
    """Make a private key that can sign service-account tokens. Raises `OpensslError`."""
    path = folder / f"{name}.key"
    # kube-apiserver reads the public half from this older format alone.
    _openssl(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(path)])
    return path


def _alternative(host: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(host)}"
    except ValueError:
        return f"DNS:{host}"


def _openssl(arguments: Sequence[str]) -> None:
    command = shutil.which("openssl")
    if command is None:
        raise OpensslError("no `openssl` command, so no keys can be made; install openssl")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OpensslError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")
