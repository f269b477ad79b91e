"""Wrong tokens: each is counted, few are answered at once, and a right one waits for none."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from fourleaf.dashboard.web.access import Token
from fourleaf.dashboard.web.guard import Guard
from fourleaf.dashboard.web.wrong_tokens import MOST_AWAITED, WrongTokens
from tests.twins.virtual_clock import VirtualClock

SECRET = "x" * 24


async def asked(guard: Guard, token: str) -> int:
    """The status of a request with `token`."""
    codes: list[int] = []
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/v1/queue",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {token}".encode())],
        "client": ("192.0.2.1", 7),
    }

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        codes.append(message.get("status", 0))

    await guard(scope, receive, send)
    return codes[0]


async def page(_: Any, __: Any, send: Any) -> None:
    """What is behind the guard."""
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def test_guesses_are_slow_and_counted(tmp_path: Path) -> None:
    """Of forty at once, eight are turned away at once, the others later; all forty count."""
    file = tmp_path / "token"
    file.write_text(SECRET)
    registry = CollectorRegistry()
    guard = Guard(page, Token(file), None, WrongTokens(VirtualClock(), registry))
    guesses = [asyncio.create_task(asked(guard, f"guess {n}")) for n in range(MOST_AWAITED + 8)]
    await asyncio.sleep(0)
    assert await asked(guard, SECRET) == 200
    assert [one.result() for one in guesses if one.done()] == [429] * 8
    assert sorted(await asyncio.gather(*guesses)) == [401] * MOST_AWAITED + [429] * 8
    assert registry.get_sample_value("fourleaf_dashboard_wrong_tokens_total") == MOST_AWAITED + 8
