"""Who may look."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from fourleaf.dashboard.web.access import SESSION_SECONDS, Proxied, Token

SECRET = "a-token-of-twenty-four-chars"  # noqa: S105 - of nothing that lasts
NOW = 1_000_000.0


@pytest.fixture
def token(tmp_path: Path) -> Token:
    """A file with the token, and a line's end as editors leave it."""
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    return Token(file)


def bearer(text: str) -> dict[str, str]:
    """The header of who gives `text` for the token."""
    return {"authorization": f"Bearer {text}"}


def test_who_has_the_token_may_look(token: Token) -> None:
    """By the header; the scheme's case does not matter."""
    assert token.user("", bearer(SECRET), "", NOW) == ""
    assert token.user("", {"authorization": f"bearer {SECRET}"}, "", NOW) == ""


@pytest.mark.parametrize("given", ["", SECRET[:-1], f"{SECRET}x", SECRET.upper(), "ü"])
def test_who_has_another_may_not(token: Token, given: str) -> None:
    """Not a part of it, not in other letters, not with signs that headers cannot have."""
    assert token.user("", bearer(given), "", NOW) is None
    assert token.session(given, NOW) is None
    assert token.user("", {"authorization": SECRET}, "", NOW) is None


def test_a_session_lasts_for_half_a_day(token: Token) -> None:
    """To the second; it is of no use for another."""
    session = token.session(SECRET, NOW)
    assert session is not None
    assert token.user("", {}, session, NOW + SESSION_SECONDS - 1) == ""
    assert token.user("", {}, session, NOW + SESSION_SECONDS) is None


def test_a_session_cannot_be_made_up(token: Token) -> None:
    """A later end, another signature, none at all."""
    session = token.session(SECRET, NOW)
    assert session is not None
    until, nonce, signature = session.split(".")
    for forged in (
        f"{int(until) + 1}.{nonce}.{signature}",
        f"{until}.{nonce}.{'0' * 64}",
        f"{until}.{nonce}.",
        until,
        "",
        "٣.a.b",
        f"{'9' * 400}.a.b",
    ):
        assert token.user("", {}, forged, NOW) is None


def test_a_new_token_ends_all_sessions(tmp_path: Path) -> None:
    """The Secret behind the file was renewed."""
    file = tmp_path / "token"
    file.write_text(SECRET)
    token = Token(file)
    session = token.session(SECRET, NOW)
    assert session is not None
    file.write_text(SECRET[::-1])
    assert token.user("", {}, session, NOW) is None
    assert token.user("", bearer(SECRET), "", NOW) is None
    assert token.user("", bearer(SECRET[::-1]), "", NOW) == ""


def test_without_a_usable_token_nobody_may_look(tmp_path: Path) -> None:
    """The file is gone, empty, or holds too little: not even the empty token is taken."""
    file = tmp_path / "token"
    token = Token(file)
    for text in (None, "", "short"):
        if text is not None:
            file.write_text(text)
        assert token.user("", bearer(text or ""), "", NOW) is None
        assert token.session(text or "", NOW) is None


def test_a_proxy_is_believed_where_it_is_trusted() -> None:
    """The same header from elsewhere says nothing; nor does an empty one."""
    proxied = Proxied("X-Forwarded-User", [ip_network("10.1.0.0/16"), ip_network("::1/128")])
    said = {"x-forwarded-user": "ada"}
    assert proxied.user("10.1.2.3", said, "", NOW) == "ada"
    assert proxied.user("::1", said, "", NOW) == "ada"
    assert proxied.user("10.2.0.1", said, "", NOW) is None
    assert proxied.user("", said, "", NOW) is None
    assert proxied.user("10.1.2.3", {"x-forwarded-user": " "}, "", NOW) is None
    assert proxied.user("10.1.2.3", {}, "", NOW) is None
