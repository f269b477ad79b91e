"""Kubeconfigs of the plain sort, read here: the `kubernetes` package takes a while to load.

Plain is a token or a client certificate that stands in the file or beside it. Plugins, providers
of tokens, passwords, several files at once and whatever is wrong are left to that package, and
so are its words about it.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CLUSTER = {
    "server",
    "certificate-authority",
    "certificate-authority-data",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "proxy-url",
    "extensions",
}
_USER = {
    "token",
    "tokenFile",
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
}
_ODD = (yaml.YAMLError, OSError, AttributeError, KeyError, TypeError, ValueError)
"""What a file of another sort comes to here."""


@dataclass(frozen=True, slots=True)
class PlainAccess:
    """How to reach an apiserver; a `ClusterEndpoint`. `secure` is None for plain HTTP."""

    host: str
    token: str = ""
    secure: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None

    def tls(self) -> ssl.SSLContext | None:
        """The SSL context."""
        return self.secure

    async def authorization(self) -> str:
        """What goes into the Authorization header, "" for nothing."""
        return f"Bearer {self.token}" if self.token else ""

    async def close(self) -> None:
        """Nothing is kept fresh: the file is read again where the apiserver says 401."""


def plain_access(path: str, context: str | None) -> PlainAccess | None:
    """The access of `context` (the current one) in the kubeconfig at `path`, None if not plain."""
    if os.pathsep in path:
        return None
    file = Path(path).expanduser()
    try:
        document = yaml.load(file.read_bytes(), _LOADER)  # noqa: S506 - it is a safe one
        return _access(document, context, file.absolute().parent)
    except _ODD:
        return None


def _access(document: Any, context: str | None, folder: Path) -> PlainAccess | None:
    chosen = _named(document["contexts"], context or document["current-context"])["context"]
    cluster = _named(document["clusters"], chosen["cluster"])["cluster"]
    user = _named(document["users"], chosen["user"])["user"] or {}
    host = cluster["server"].rstrip("/")
    if not (cluster.keys() <= _CLUSTER and user.keys() <= _USER):
        return None
    # The package takes the token as it stands, from a file too.
    token = user["token"] if "token" in user else _read(user, "tokenFile", folder)
    tls = _tls(cluster, user, folder) if host.startswith("https") else None
    names = cluster.get("tls-server-name"), cluster.get("proxy-url")
    return PlainAccess(host, token, tls, *names)


def _tls(cluster: Any, user: Any, folder: Path) -> ssl.SSLContext:
    """Raises `OSError` where certificates and key are not what they should be."""
    context = ssl.create_default_context(
        cadata=_pem(cluster, "certificate-authority", folder) or None
    )
    certificate = _pem(user, "client-certificate", folder)
    if certificate:
        # The standard library reads it from files alone; this one is its owner's, and goes.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(f"{certificate}\n{_pem(user, 'client-key', folder)}\n")
            file.flush()
            context.load_cert_chain(file.name)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _named(entries: Any, name: str) -> Any:
    """The one entry of that name. Raises `ValueError` where there is none or several."""
    (one,) = [entry for entry in entries if entry["name"] == name]
    return one


def _read(of: Any, key: str, folder: Path) -> str:
    return (folder / of[key]).read_text() if key in of else ""


def _pem(of: Any, key: str, folder: Path) -> str:
    """What `key` and `-data` after it says; the latter comes first."""
    data = of.get(f"{key}-data")
    return b64decode(data).decode() if data else _read(of, key, folder)
