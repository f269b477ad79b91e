"""The cycles of the scheduler, asked of real servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from fourleaf.dashboard.cycles import MOST_BYTES, SchedulerCycles, replicas
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.runtime.http.pages import Address, PageServer, json_page
from tests.dashboard.telling import document


@asynccontextmanager
async def replica(body: Any, code: int = 200) -> AsyncIterator[str]:
    """A server that answers so; its URL."""

    async def answer(_: Request) -> Response:
        if isinstance(body, bytes):
            return Response(body, code)
        return json_page(body, code)

    async with PageServer({"/cycles": answer}, Address(port=0)) as server:
        yield f"http://127.0.0.1:{server.port}/"


async def test_the_leader_is_believed() -> None:
    """Although another replica, which led before, remembers more."""
    async with (
        replica(document("old", False, 9)) as old,
        replica(document("new", True, 1)) as new,
    ):
        view = await SchedulerCycles((old, new), SystemClock()).look()
    assert (view.source, view.leader, len(view.cycles)) == ("new", True, 1)
    assert view.cycles[0].total == 0.26
    assert view.unknown == ()


async def test_what_does_not_answer_is_said() -> None:
    """One is gone, one refuses, one is something else, one is too long; the last one counts."""
    wrong: list[Any] = [{"kind": "Other"}, b"<html>", b"x" * (MOST_BYTES + 1)]
    async with (
        replica(document("a", False, 2)) as good,
        replica({}, 503) as refuses,
        replica(wrong[0]) as other,
        replica(wrong[1]) as page,
        replica(wrong[2]) as long,
    ):
        servers = (refuses, other, page, long, "http://127.0.0.1:1", "nonsense", good)
        view = await SchedulerCycles(servers, SystemClock()).look()
    assert (view.source, len(view.cycles), len(view.unknown)) == ("a", 2, 6)
    for part, said in zip(
        ("503", "not the address", "not the address", "more than", "not answer", "not answer"),
        view.unknown,
        strict=True,
    ):
        assert part in said


async def test_without_an_address_it_is_said_how_to_give_one() -> None:
    """No request is made."""
    view = await SchedulerCycles((), SystemClock()).look()
    assert view.cycles == ()
    assert "--server" in view.unknown[0]


async def test_every_address_behind_a_name_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A headless Service has the addresses of all replicas; the leader is among them."""

    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        assert host == "schedulers"
        return [(0, 0, 0, "", (address, port)) for address in ("10.0.0.2", "10.0.0.1")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    found = await replicas("http://schedulers:8080")
    assert found == ["http://10.0.0.1:8080", "http://10.0.0.2:8080"]
    assert await replicas("https://schedulers") == ["https://schedulers"]
