"""The state of our own authority as the content of a Secret."""

from __future__ import annotations

import base64
import binascii

from fourleaf.model.readers.objects.manifest import Body
from fourleaf.webhook.tls.authority_state import AuthorityState
from fourleaf.webhook.tls.issue import Authority
from fourleaf.webhook.tls.pair import BrokenPair, Pair

_NEEDED = ("generation", "since", "ca.crt", "ca.key", "tls.crt", "tls.key")


def to_secret(name: str, state: AuthorityState) -> Body:
    """The Secret that holds `state`."""
    content = {
        "generation": str(state.generation).encode(),
        "since": repr(state.since).encode(),
        "ca.crt": state.authority.certificate,
        "ca.key": state.authority.key,
        "tls.crt": state.serving.certificate,
        "tls.key": state.serving.key,
        "former.crt": state.former,
    }
    if state.following is not None:
        content["next.crt"] = state.following.certificate
        content["next.key"] = state.following.key
    data = {key: base64.b64encode(value).decode() for key, value in content.items() if value}
    return {"metadata": {"name": name}, "type": "Opaque", "data": data}


def from_secret(body: Body) -> AuthorityState:
    """The state in a Secret. Raises `BrokenPair` where there is none."""
    data = body.get("data") or {}
    missing = [key for key in _NEEDED if not isinstance(data.get(key), str)]
    if missing:
        raise BrokenPair(f"the Secret lacks {', '.join(missing)}")
    try:
        content = {key: base64.b64decode(value, validate=True) for key, value in data.items()}
        generation, since = int(content["generation"]), float(content["since"])
    except (binascii.Error, ValueError, TypeError) as error:
        raise BrokenPair(f"the Secret cannot be read: {error}") from None
    following = None
    if "next.crt" in content and "next.key" in content:
        following = Authority(content["next.crt"], content["next.key"])
    return AuthorityState(
        generation,
        Authority(content["ca.crt"], content["ca.key"]),
        Pair(content["tls.crt"], content["tls.key"]),
        since,
        following,
        content.get("former.crt", b""),
    )
