"""A proxy between one replica and the apiserver: plain HTTP on one side, TLS on the other."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
from aiohttp import web
from yarl import URL

from tests.faults.asked import Asked, Match, asked, everything, writes
from tests.faults.done import Done
from tests.faults.events import EventFault, EventMatch
from tests.faults.faults import DropBefore, Dropped, Exchange, Fault, Reply
from tests.faults.lines import read_lines, until_end
from tests.faults.rules import ALWAYS, EventRule, Rule

HOP = {"host", "connection", "transfer-encoding", "content-length", "keep-alive"}
"""Headers that are about one connection alone."""

NO_ANSWER = 0
LARGEST = 2**26
MEMORY = 64
"""Answers to one kind of list that are kept."""

AnyRule = TypeVar("AnyRule", Rule, EventRule)


class Proxy:
    """Passes everything on, unless a rule strikes. To be used as a context.

    Its server has a thread and a loop of its own; all methods are for other threads.
    """

    def __init__(self, upstream: str, authority: Path) -> None:
        self.port = 0
        self.log: list[Done] = []
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.sent = self.received = 0
        self._upstream = upstream
        self._tls = ssl.create_default_context(cafile=str(authority))
        self._rules: list[Rule] = []
        self._event_rules: list[EventRule] = []
        self._lists: defaultdict[tuple[str, str], list[tuple[float, Reply]]] = defaultdict(list)
        self._open: set[asyncio.Transport] = set()
        self._thread = threading.Thread(target=self._work, name="proxy", daemon=True)
        self._ready, self._ending = threading.Event(), asyncio.Event()
        self._error: Exception | None = None

    def __enter__(self) -> Proxy:
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            raise self._error
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """Where the replica finds it."""
        return f"http://127.0.0.1:{self.port}"

    def add(self, rule: AnyRule) -> AnyRule:
        """Put a rule in force, behind those that are; the first one that strikes counts."""
        if isinstance(rule, Rule):
            self._rules = [*self._rules, rule]
        else:
            self._event_rules = [*self._event_rules, rule]
        return rule

    def strike(
        self, match: Match, fault: Fault, first: int = 1, times: float = 1, **triggers: Any
    ) -> Rule:
        """Put a rule in force: `fault` for the requests that `Rule` counts."""
        return self.add(Rule(match, fault, first, times, **triggers))

    def tell(self, match: EventMatch, fault: EventFault, first: int = 1) -> EventRule:
        """Put a rule for events in force, from event number `first` on."""
        return self.add(EventRule(match, fault, first))

    def remove(self, rule: Rule | EventRule) -> None:
        """Take a rule out of force; what it holds goes on."""
        self._rules = [one for one in self._rules if one is not rule]
        self._event_rules = [one for one in self._event_rules if one is not rule]
        release = getattr(rule.fault, "release", None)
        if release is not None:
            release()

    def clear(self) -> None:
        """Take all rules out of force."""
        rules: list[Rule | EventRule] = [*self._rules, *self._event_rules]
        for rule in rules:
            self.remove(rule)

    def cut_off(self, fault: Fault | None = None) -> Rule:
        """Let nothing through any more, open watches included, until the rule is removed."""
        rule = self.strike(everything, fault or DropBefore(), times=ALWAYS)
        self.cut()
        return rule

    def cut(self) -> None:
        """Break every open connection; new ones are welcome."""
        self._loop.call_soon_threadsafe(self._abort_all)

    def done(self, match: Match, since: float = 0.0) -> list[Done]:
        """Requests that match and that the apiserver answered after `since`, in their order."""
        return [one for one in list(self.log) if one.ended >= since and match(one.asked)]

    def writes_that_took(self, since: float) -> list[Done]:
        """Writes of records and pods that the apiserver carried out after `since`."""
        found = self.done(writes, since)
        return [one for one in found if one.took and one.resource != "events"]

    def save(self, path: Path) -> None:
        """Write what was done, a line of JSON for each request."""
        path.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in list(self.log)))

    def _work(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:  # noqa: BLE001 - whoever started the thread has to hear of it
            self._error = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        application = web.Application(client_max_size=LARGEST)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        connector = aiohttp.TCPConnector(limit=0, ssl=self._tls)
        async with aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, connect=10),
            auto_decompress=False,
            read_bufsize=2**20,
        ) as self._session:
            # A second attempt would hide what became of the first one.
            self._session._retry_connection = False
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.port = int(runner.addresses[0][1])
            self._ready.set()
            await self._ending.wait()
            self._abort_all()
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        one = asked(request.method, request.path, request.query, await request.read())
        began, transport = time.monotonic(), request.transport
        assert transport is not None
        self._open.add(transport)
        self.received += len(one.body)
        rule = self._rule_for(one)
        statuses: list[int] = []

        async def forward() -> Reply:
            reply = await self._forward(request, one)
            statuses.append(reply.status)
            return reply

        told = NO_ANSWER
        try:
            if rule is None and one.verb == "watch":
                told = 200
                return await self._watch(request, one)
            exchange = Exchange(one, forward, partial(self._old_list, one))
            reply = await self._treated(rule, exchange)
            told = reply.status
            self.sent += len(reply.body)
            return web.Response(status=reply.status, body=reply.body, headers=reply.headers)
        except (Dropped, aiohttp.ClientError, ConnectionError, TimeoutError):
            transport.abort()
            return web.Response()
        finally:
            self._open.discard(transport)
            self._note(one, began, statuses[-1] if statuses else NO_ANSWER, told, rule)

    def _rule_for(self, one: Asked) -> Rule | None:
        striking = [rule for rule in self._rules if rule.strikes(one)]
        return striking[0] if striking else None

    async def _treated(self, rule: Rule | None, exchange: Exchange) -> Reply:
        if rule is None:
            return await exchange.forward()
        rule.began.set()
        if rule.before is not None:
            await asyncio.to_thread(rule.before, exchange.asked)
        try:
            return await rule.fault.apply(exchange)
        finally:
            if rule.after is not None:
                await asyncio.to_thread(rule.after, exchange.asked)
            rule.done.set()

    def _old_list(self, one: Asked, older: float) -> Reply | None:
        moment = time.monotonic() - older
        kept = self._lists[_list_key(one)]
        return next((reply for at, reply in reversed(kept) if at <= moment), None)

    def _note(self, one: Asked, began: float, status: int, told: int, rule: Rule | None) -> None:
        fault = type(rule.fault).__name__ if rule else ""
        self.requests[one.verb, one.resource, status] += 1
        self.log.append(
            Done(
                began,
                time.monotonic(),
                one.verb,
                one.resource,
                one.namespace,
                one.name,
                one.dry_run,
                status,
                told,
                fault,
            )
        )

    def _send(self, request: web.Request, body: bytes) -> Any:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in HOP}
        # Rules look into events, and read JSON alone.
        headers["Accept"] = "application/json"
        url = URL(self._upstream + request.rel_url.raw_path_qs, encoded=True)
        return self._session.request(
            request.method, url, data=body or None, headers=headers, allow_redirects=False
        )

    async def _forward(self, request: web.Request, one: Asked) -> Reply:
        async with self._send(request, one.body) as answer:
            body = await answer.read()
            headers = {k: v for k, v in answer.headers.items() if k.lower() not in HOP}
            reply = Reply(answer.status, body, headers)
        if one.verb == "list" and reply.status == 200:
            kept = self._lists[_list_key(one)]
            kept.append((time.monotonic(), reply))
            del kept[1:-MEMORY]
        return reply

    async def _watch(self, request: web.Request, one: Asked) -> web.StreamResponse:
        async with self._send(request, b"") as answer:
            headers = {k: v for k, v in answer.headers.items() if k.lower() not in HOP}
            response = web.StreamResponse(status=answer.status, headers=headers)
            await response.prepare(request)
            lines: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
            reading = asyncio.create_task(read_lines(answer, lines))
            try:
                async for arrived, line in until_end(lines, request):
                    await self._tell(one, line, arrived, response)
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError, aiohttp.ClientError):
                    await reading
            await response.write_eof()
            return response

    async def _tell(
        self, one: Asked, line: bytes, arrived: float, response: web.StreamResponse
    ) -> None:
        async def send() -> None:
            self.sent += len(line)
            await response.write(line)

        told = json.loads(line) if self._event_rules else {}
        striking = [rule for rule in self._event_rules if rule.strikes(one, told)]
        if striking:
            await striking[0].fault.apply(arrived, send)
        else:
            await send()

    def _abort_all(self) -> None:
        for transport in list(self._open):
            transport.abort()


def _list_key(one: Asked) -> tuple[str, str]:
    return one.path, one.query.get("labelSelector", "")
