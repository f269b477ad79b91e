"""Who may look: users of this machine, holders of the token, or users that a proxy vouches for."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from typing import Protocol

import structlog

Headers = Mapping[str, str]
"""Names in lower case -> values."""
Network = IPv4Network | IPv6Network

COOKIE = "fourleaf-session"
SESSION_SECONDS = 12 * 3600
"""Seconds after which one has to log in again."""
SHORTEST_TOKEN = 16
"""Characters of a token."""

_log = structlog.get_logger(__name__)


class Access(Protocol):
    """Decides who may look."""

    asks: bool
    """Whether there is a page to log in at."""

    @property
    def believes_this_machine(self) -> bool:
        """Whether requests from this machine may look without a secret."""

    def user(self, peer: str, headers: Headers, cookie: str, now: float) -> str | None:
        """Name the user who asks, "" where unknown; None for those who may not look."""


class NoSecret:
    """Lets all requests through; for addresses that only this machine can reach."""

    asks = False
    believes_this_machine = True

    def user(self, peer: str, headers: Headers, cookie: str, now: float) -> str | None:  # noqa: ARG002
        """No name: all are alike."""
        return ""


class Proxied:
    """Believes `header` of the proxies in `networks`, and of no others."""

    asks = False

    def __init__(self, header: str, networks: Sequence[Network]) -> None:
        self._header = header.lower()
        self._networks = tuple(networks)

    @property
    def believes_this_machine(self) -> bool:
        """Whether proxies on this machine are trusted."""
        return any(network.is_loopback for network in self._networks)

    def user(self, peer: str, headers: Headers, cookie: str, now: float) -> str | None:  # noqa: ARG002
        """The user that the proxy names."""
        try:
            address = ip_address(peer)
        except ValueError:
            return None
        if not any(address in network for network in self._networks):
            return None
        return headers.get(self._header, "").strip() or None


class Token:
    """Asks for the token in a file, as `Authorization: Bearer` or by a session's cookie.

    The file is read each time, so that a Secret can be renewed; that ends all sessions.
    """

    asks = True
    believes_this_machine = False

    def __init__(self, file: Path) -> None:
        self._file = file

    def user(self, peer: str, headers: Headers, cookie: str, now: float) -> str | None:  # noqa: ARG002
        """A user with the token or a session."""
        token = self._token()
        if token is None:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(given.strip(), token):
            return ""
        return "" if _is_session(token, cookie, now) else None

    def session(self, given: str, now: float) -> str | None:
        """The cookie of a new session for who gives the token, None for who gives another."""
        token = self._token()
        if token is None or not _same(given, token):
            return None
        said = f"{int(now) + SESSION_SECONDS}.{secrets.token_hex(8)}"
        return f"{said}.{_signature(token, said)}"

    def _token(self) -> str | None:
        try:
            token = self._file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            _log.error("token_unreadable", file=str(self._file), why=str(error))
            return None
        if len(token) < SHORTEST_TOKEN:
            _log.error("token_too_short", file=str(self._file), shortest=SHORTEST_TOKEN)
            return None
        return token


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _signature(token: str, said: str) -> str:
    key = hmac.digest(token.encode(), b"fourleaf dashboard session", hashlib.sha256)
    return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()


def _is_session(token: str, cookie: str, now: float) -> bool:
    said, _, signature = cookie.rpartition(".")
    until = said.partition(".")[0]
    if not until.isascii() or not until.isdecimal() or len(until) > 12:
        return False
    return _same(signature, _signature(token, said)) and now < int(until)
