"""The scheduler's own account of itself, from its HTTP server."""

from __future__ import annotations

from typing import Any

from fourleaf.cli.bad_input import bad_input

PATH = "/status"
ANSWER_SECONDS = 10.0
"""Seconds for an answer."""
_WRONG = "Name the address where `fourleaf run` listens."


def fetch_status(server: str) -> dict[str, Any]:
    """The document that the scheduler at the URL `server` serves. Raises `BadInput`."""
    import json
    from http.client import HTTPException
    from urllib.request import urlopen

    url = server.rstrip("/") + PATH
    if not url.startswith(("http://", "https://")):
        raise bad_input(server, "is not a URL", "Give one such as http://127.0.0.1:8080.")
    try:
        with urlopen(url, timeout=ANSWER_SECONDS) as answer:  # noqa: S310 - of http and https alone
            document = json.loads(answer.read())
    except (OSError, HTTPException) as error:
        advice = "Check that a scheduler listens there; kubectl port-forward may be needed."
        raise bad_input(url, f"does not answer: {error}", advice) from error
    except ValueError as error:
        raise bad_input(url, f"does not answer in JSON: {error}", _WRONG) from error
    if not isinstance(document, dict) or document.get("kind") != "Status":
        raise bad_input(url, "is not the status of a scheduler", _WRONG)
    return document
