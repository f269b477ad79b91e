"""The proxy does to requests and watches what a rule says, and nothing else."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.controlplane.pki import serving
from tests.controlplane.waiting import eventually
from tests.faults.asked import Asked, asked, bindings, everything, lists
from tests.faults.events import Cut, Twice, Withheld, any_event
from tests.faults.faults import BUSY, DropAfter, DropBefore, Fault, Hold, OldList
from tests.faults.proxy import Proxy
from tests.faults.rules import ALWAYS

BINDING = "/api/v1/namespaces/ml/pods/g-0/binding"
PODS = "/api/v1/pods"
EVENTS = 3


class Upstream:
    """An apiserver that counts what arrives; lists say how many there were before."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a list with its number, a watch with three events, all else with 201."""
        self.arrived.append(request.path)
        if "watch" in request.query:
            response = web.StreamResponse()
            await response.prepare(request)
            for number in range(EVENTS):
                told = {"type": "ADDED", "object": {"metadata": {"name": str(number)}}}
                await response.write(json.dumps(told).encode() + b"\n")
            return response
        body = {"number": len(self.arrived), "token": request.headers.get("Authorization")}
        return web.json_response(body, status=200 if request.method == "GET" else 201)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the keys are."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture
async def upstream(folder: Path) -> AsyncIterator[Upstream]:
    """An apiserver on 127.0.0.1, with TLS."""
    made = Upstream()
    certificate = serving(folder, "apiserver", "127.0.0.1", "localhost")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate.certificate, certificate.key)
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", made.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    made.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


@pytest.fixture
def proxy(upstream: Upstream, folder: Path) -> Iterator[Proxy]:
    """A proxy in front of it."""
    with Proxy(upstream.url, folder / "apiserver.crt") as proxy:
        yield proxy


async def ask(proxy: Proxy, method: str, path: str) -> tuple[int, dict[str, Any]]:
    """Status and body of the answer; status 0 where the connection broke."""
    headers = {"Authorization": "Bearer secret"}
    try:
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, proxy.url + path) as answer,
        ):
            return answer.status, await answer.json()
    except aiohttp.ClientError:
        return 0, {}


async def watch(proxy: Proxy) -> list[str]:
    """The names that a watch of pods tells of until it ends or breaks."""
    names = []
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{proxy.url}{PODS}?watch=true") as answer,
        ):
            async for line in answer.content:
                names += [json.loads(line)["object"]["metadata"]["name"]]
    except aiohttp.ClientError:
        names.append("broken")
    return names


@pytest.mark.parametrize(
    ("method", "path", "what"),
    [
        ("POST", BINDING, "create pods/binding ml/g-0"),
        ("GET", "/api/v1/nodes", "list nodes "),
        ("GET", "/api/v1/namespaces/ml", "get namespaces ml"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/s/leases/l", "update leases s/l"),
        ("DELETE", "/api/v1/namespaces/ml/pods/g-0", "delete pods ml/g-0"),
    ],
)
def test_a_path_says_what_is_asked(method: str, path: str, what: str) -> None:
    """Verbs and resources are those of the audit log."""
    assert str(asked(method, path, {}, b"")) == what
    assert asked("GET", PODS, {"watch": "true"}, b"").verb == "watch"
    assert asked("POST", BINDING, {"dryRun": "All"}, b"").dry_run


async def test_without_a_rule_everything_passes(proxy: Proxy, upstream: Upstream) -> None:
    """The token goes on, the answer comes back, and both are noted."""
    assert await ask(proxy, "GET", PODS) == (200, {"number": 1, "token": "Bearer secret"})
    assert await watch(proxy) == ["0", "1", "2"]
    # A watch is noted once it has ended on both sides.
    await asyncio.to_thread(eventually, lambda: len(proxy.log) >= 2, "the watch is noted too")
    assert [(one.verb, one.resource, one.told) for one in proxy.log] == [
        ("list", "pods", 200),
        ("watch", "pods", 200),
    ]
    assert upstream.arrived == [PODS, PODS]


@pytest.mark.parametrize(
    ("fault", "told", "arrives"), [(DropBefore(), 0, 2), (DropAfter(), 0, 3), (BUSY, 429, 2)]
)
async def test_the_second_binding_is_struck(
    proxy: Proxy, upstream: Upstream, fault: Fault, told: int, arrives: int
) -> None:
    """Of three bindings the second fails, before or after it has arrived; reads do not count."""
    rule = proxy.strike(bindings, fault, first=2)
    await ask(proxy, "GET", PODS)
    upstream.arrived.clear()
    answers = [(await ask(proxy, "POST", BINDING))[0] for _ in range(3)]
    assert answers == [201, told, 201]
    assert len(upstream.arrived) == arrives
    assert rule.struck == 1
    assert [one.took for one in proxy.done(bindings)] == [True, arrives == 3, True]


async def test_a_held_request_arrives_although_nobody_waits(
    proxy: Proxy, upstream: Upstream
) -> None:
    """The sender has given up, or died: its write arrives all the same, and late."""
    triggered: list[Asked] = []
    hold = Hold()
    rule = proxy.strike(bindings, hold, before=triggered.append)
    task = asyncio.ensure_future(ask(proxy, "POST", BINDING))
    assert await asyncio.to_thread(rule.began.wait, 10)
    task.cancel()
    assert upstream.arrived == []
    hold.release()
    assert await asyncio.to_thread(rule.done.wait, 10)
    assert upstream.arrived == [BINDING]
    assert [one.name for one in triggered] == ["g-0"]


async def test_an_old_list_is_told_again(proxy: Proxy) -> None:
    """The answer is one from before; other lists are as they are."""
    await ask(proxy, "GET", PODS)
    await ask(proxy, "GET", PODS)
    proxy.strike(lists("pods"), OldList(0.0), times=ALWAYS)
    assert (await ask(proxy, "GET", PODS))[1]["number"] == 2
    assert (await ask(proxy, "GET", "/api/v1/nodes"))[1]["number"] == 3


async def test_cut_off_and_let_in_again(proxy: Proxy, upstream: Upstream) -> None:
    """Nothing arrives until the rule is gone."""
    rule = proxy.cut_off()
    assert (await ask(proxy, "GET", PODS))[0] == 0
    assert await watch(proxy) == ["broken"]
    assert upstream.arrived == []
    proxy.remove(rule)
    assert (await ask(proxy, "GET", PODS))[0] == 200
    assert proxy.strike(everything, DropBefore(), first=2).struck == 0


async def test_events_are_told_twice(proxy: Proxy) -> None:
    """Each comes twice, in order."""
    proxy.tell(any_event, Twice())
    assert await watch(proxy) == ["0", "0", "1", "1", "2", "2"]


async def test_a_watch_breaks_before_an_event(proxy: Proxy) -> None:
    """The first event comes, then the connection is gone."""
    proxy.tell(any_event, Cut(), first=2)
    assert await watch(proxy) == ["0", "broken"]


async def test_events_behind_a_withheld_one_wait_too(proxy: Proxy) -> None:
    """Nothing overtakes: released, all come in order."""
    withheld = Withheld()
    rule = proxy.tell(any_event, withheld, first=2)
    task = asyncio.ensure_future(watch(proxy))
    while rule.seen < 2:
        await asyncio.sleep(0.01)
    assert not task.done()
    withheld.release()
    assert await task == ["0", "1", "2"]
