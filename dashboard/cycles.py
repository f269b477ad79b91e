"""The cycles of the scheduler, as its replicas tell of them at `/cycles`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Annotated

import aiohttp
import orjson
from pydantic import ConfigDict, Field, ValidationError
from yarl import URL

from fourleaf.dashboard.view import View
from fourleaf.k8s_bridge.runtime.clock import Clock

PATH = "/cycles"
ANSWER_SECONDS = 3.0
"""Seconds for an answer."""
MOST_BYTES = 4 * 2**20
"""Bytes of an answer."""
MOST_CYCLES_SHOWN = 60
"""Cycles that the page lists; the JSON API has all that the scheduler tells of."""
FRESH_SECONDS = 1.0
"""Seconds for which an answer is good."""
HEARD_SECONDS = 15.0
"""Seconds after which the scheduler is asked again although no page of cycles is open."""

Text = Annotated[str, Field(max_length=4096)]


class _CyclesPart(View):
    """Unknown fields are left alone: the scheduler may be of a newer version."""

    model_config = ConfigDict(extra="ignore")


class StageView(_CyclesPart):
    """One solve of a cycle, in its own unit."""

    name: Text
    proven: bool
    objective: int
    bound: int
    seconds: float


class CycleView(_CyclesPart):
    """A cycle that decided something. `at` in seconds since the epoch, `seconds` by phase."""

    id: Text
    at: float
    status: Text
    objective: int
    bound: int
    gap: float | None
    placed: int
    waiting: int
    lost: int
    seconds: dict[Text, float]
    stages: tuple[StageView, ...] = ()
    note: Text = ""

    @property
    def total(self) -> float:
        """Seconds of all phases."""
        return sum(self.seconds.values())


class _Answer(_CyclesPart):
    kind: Text
    identity: Text
    leader: bool
    cycles: Annotated[tuple[CycleView, ...], Field(max_length=1024)]


class CyclesView(View):
    """The newest cycles of who leads, the newest first. `unknown` says why there are none."""

    source: str
    leader: bool
    cycles: tuple[CycleView, ...]
    unknown: tuple[str, ...]


NO_CYCLES = CyclesView(
    source="",
    leader=False,
    cycles=(),
    unknown=("No scheduler's address is known. Start the dashboard with --server URL.",),
)


class SchedulerCycles:
    """Asks the replicas at `servers` (URLs), at most once in `FRESH_SECONDS` seconds."""

    def __init__(self, servers: Sequence[str], clock: Clock) -> None:
        self._servers = tuple(servers)
        self._clock = clock
        self._known = NO_CYCLES
        self._at = float("-inf")
        self._lock = asyncio.Lock()

    @property
    def heard(self) -> CyclesView | None:
        """What was told last, without asking; None before the first answer, or without servers."""
        return self._known if self._servers and self._at > float("-inf") else None

    async def look(self) -> CyclesView:
        """What the leader tells; where none leads, a replica that has cycles to tell of."""
        if not self._servers:
            return NO_CYCLES
        async with self._lock:
            if self._clock.monotonic() - self._at >= FRESH_SECONDS:
                self._known = await self._asked()
                self._at = self._clock.monotonic()
            return self._known

    async def run(self) -> None:
        """Ask from time to time, for ever, so that other pages need not wait for an answer."""
        while self._servers:
            await self.look()
            await self._clock.sleep(HEARD_SECONDS)

    async def _asked(self) -> CyclesView:
        limit = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        async with aiohttp.ClientSession(timeout=limit, trust_env=False) as session:
            servers = await asyncio.gather(*map(replicas, self._servers))
            answers = await asyncio.gather(
                *(_fetched(session, one) for found in servers for one in found)
            )
        unknown = tuple(one for one in answers if isinstance(one, str))
        told = [one for one in answers if isinstance(one, _Answer)]
        best = max(told, key=lambda one: (one.leader, len(one.cycles)), default=None)
        if best is None:
            return CyclesView(source="", leader=False, cycles=(), unknown=unknown)
        return CyclesView(
            source=best.identity, leader=best.leader, cycles=best.cycles, unknown=unknown
        )


async def replicas(server: str) -> list[str]:
    """The URL for each address of the host in `server`: behind one name there may be several."""
    try:
        url = URL(server)
        found = await asyncio.get_running_loop().getaddrinfo(
            url.host, url.port, type=socket.SOCK_STREAM
        )
    except (OSError, ValueError):
        return [server]
    if url.scheme != "http":
        # A certificate is for the name, not for an address.
        return [server]
    return [str(url.with_host(address)) for address in sorted({str(one[4][0]) for one in found})]


async def _fetched(session: aiohttp.ClientSession, server: str) -> _Answer | str:
    """What a replica answers, or why it does not."""
    url = server.rstrip("/") + PATH
    try:
        async with session.get(url, allow_redirects=False) as answer:
            if answer.status != 200:
                return f"{url} answers {answer.status}"
            content = await answer.content.read(MOST_BYTES + 1)
            while len(content) <= MOST_BYTES and (more := await answer.content.read(MOST_BYTES)):
                content += more
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        return f"{url} does not answer: {str(error) or type(error).__name__}"
    if len(content) > MOST_BYTES:
        return f"{url} answers with more than {MOST_BYTES // 2**20} MiB"
    return _read(url, content)


def _read(url: str, content: bytes) -> _Answer | str:
    try:
        return _Answer.model_validate(orjson.loads(content))
    except (orjson.JSONDecodeError, ValidationError):
        return f"{url} is not the address of a scheduler"
