"""The whole program on the cluster in memory."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from fourleaf.k8s_bridge.cluster.kinds import MUTATING_WEBHOOKS, SECRETS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.webhook.configurations import Deployment, configurations
from fourleaf.webhook.names import NAME, SECRET
from fourleaf.webhook.serve import WebhookOptions, hosts_of_service, serve
from fourleaf.webhook.tls.issue import hosts_of
from fourleaf.webhook.tls.pair import Pair
from tests.controlplane.processes import free_ports
from tests.webhook.http.server import GOOD, trusting
from tests.webhook.tls.test_files import new, write
from tests.webhook.tls.test_self_signed import KINDS, empty_secret


@asynccontextmanager
async def serving(cluster: MemoryCluster, options: WebhookOptions) -> AsyncIterator[asyncio.Event]:
    """The program, ready."""
    stop = asyncio.Event()
    work = asyncio.create_task(serve(cluster, SystemClock(), options, stop))
    async with aiohttp.ClientSession() as session:
        async with asyncio.timeout(20):
            while not await ready(session, options):
                await asyncio.sleep(0.05)
    yield stop
    stop.set()
    await work


async def ready(session: aiohttp.ClientSession, options: WebhookOptions) -> bool:
    """Whether it says that it is."""
    try:
        async with session.get(f"http://127.0.0.1:{options.side_port}/readyz") as answer:
            return answer.status == 200
    except aiohttp.ClientConnectionError:
        return False


def options(**more: object) -> WebhookOptions:
    """Two free ports, and no time to say goodbye."""
    port, side = free_ports(2)
    return WebhookOptions(port=port, side_port=side, leave=0.05, **more)  # type: ignore[arg-type]


async def validated(port: int, bundle: bytes, name: str = "127.0.0.1") -> bool:
    """Whether a good pod passes, asked by TLS as the API server asks."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"https://127.0.0.1:{port}/validate",
            data=GOOD,
            headers={"Content-Type": "application/json"},
            ssl=trusting(bundle),
            server_hostname=name,
        ) as answer,
    ):
        return bool((await answer.json())["response"]["allowed"])


async def test_self_signed_from_nothing() -> None:
    """A Secret, a bundle in the configurations, and an answer that the bundle vouches for."""
    cluster = MemoryCluster()
    await cluster.create(SECRETS, "kube-system", empty_secret())
    for body in configurations(Deployment()):
        await cluster.create(KINDS[body["kind"]], "", body)
    given = options()
    async with serving(cluster, given):
        body = await cluster.get(MUTATING_WEBHOOKS, Target("", NAME))
        bundle = base64.b64decode(body["webhooks"][0]["clientConfig"]["caBundle"])
        host = hosts_of_service("kube-system")[0]
        assert await validated(given.port, bundle, host)
        secret = await cluster.get(SECRETS, Target("kube-system", SECRET))
        pair = Pair(base64.b64decode(secret["data"]["tls.crt"]), b"")
        assert hosts_of(pair) == frozenset(hosts_of_service("kube-system"))


async def test_files_are_served_and_nothing_is_written(tmp_path: Path) -> None:
    """With a certificate of somebody else's, the cluster is only read."""
    cluster = MemoryCluster()
    pair = new()
    write(tmp_path, pair)
    version = cluster.store.version
    given = options(certificates=tmp_path)
    async with serving(cluster, given) as stop:
        assert pair.not_after > time.time()
        stop.set()
    assert cluster.store.version == version
