"""The three measurements: reviews alone, creations through the API server, certificates swapped."""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from benchmarks.throughput.cost import cpu_seconds, peak_mib
from benchmarks.webhook.client import Seconds, Send, paced
from benchmarks.webhook.load import pod, review
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.live import connect
from fourleaf.webhook.tls.issue import Authority, issued, new_authority
from fourleaf.webhook.tls.pair import Pair
from tests.controlplane.plane import ControlPlane
from tests.e2e.hook import PATHS, Hook

REVIEWED = 200.0
"""Creations a second whose reviews are measured alone."""
CREATED = 100.0
"""Creations a second through the API server, which with etcd needs six times the webhook's CPU."""
CONNECTIONS = 16
HANDSHAKES = 50.0
SWAP_EVERY = 2.0
HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Turn:
    """What a measurement came to; `cores` and `memory` (MiB) are those of the webhook."""

    seconds: Seconds
    cores: float
    memory: float
    swaps: int = 0


async def reviews(hook: Hook, plane: ControlPlane, length: float) -> Turn:
    """A mutation and then a validation for each creation, over kept connections."""
    bare, told = review(pod("train-0", told=False)), review(pod("train-0", told=True))
    connector = aiohttp.TCPConnector(limit=CONNECTIONS, ssl=trusted(plane))
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:

        async def create(_: int) -> None:
            await _asked(session, f"{hook.url}/mutate", bare)
            await _asked(session, f"{hook.url}/validate", told)

        return await _measured(hook, create, REVIEWED, length)


async def creations(
    hook: Hook, plane: ControlPlane, namespace: str, scheduler: str, length: float
) -> Turn:
    """Pods created through the API server, which asks the webhook where `scheduler` is ours."""
    cluster = await connect(str(plane.kubeconfig()))
    try:

        async def create(number: int) -> None:
            body = pod(f"{scheduler}-{number}", told=False, scheduler=scheduler)
            del body["metadata"]["namespace"]
            await cluster.create(PODS, namespace, body)

        return await _measured(hook, create, CREATED, length)
    finally:
        await cluster.close()


async def swaps(hook: Hook, folder: Path, authority: Authority, length: float) -> Turn:
    """A handshake for each request, while the files of the certificate are replaced."""
    context = ssl.create_default_context(cadata=authority.certificate.decode())
    content = review(pod("train-0", told=True))
    done = 0

    async def swap() -> None:
        nonlocal done
        while True:
            await asyncio.sleep(SWAP_EVERY)
            await asyncio.to_thread(write, folder, new_pair(authority))
            done += 1

    async def handshake(_: int) -> None:
        connector = aiohttp.TCPConnector(ssl=context, force_close=True)
        async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:
            await _asked(session, f"{hook.url}/validate", content)

    swapping = asyncio.create_task(swap())
    turn = await _measured(hook, handshake, HANDSHAKES, length)
    swapping.cancel()
    return Turn(turn.seconds, turn.cores, turn.memory, done)


def trusted(plane: ControlPlane) -> ssl.SSLContext:
    """A context that trusts whom the API server trusts."""
    with plane.api() as api:
        hooks = api.get(next(iter(PATHS.values())))["items"][0]["webhooks"]
    bundle = base64.b64decode(hooks[0]["clientConfig"]["caBundle"])
    return ssl.create_default_context(cadata=bundle.decode())


def new_pair(authority: Authority) -> Pair:
    """A certificate for 127.0.0.1."""
    return issued(authority, ["127.0.0.1"], time.time(), 3600)


def own_authority() -> Authority:
    """An authority for an hour."""
    return new_authority(time.time(), 3600)


def write(folder: Path, pair: Pair) -> None:
    """One file after the other, as a person would."""
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)


async def _asked(session: aiohttp.ClientSession, url: str, content: bytes) -> None:
    async with session.post(url, data=content) as answer:
        document = await answer.json()
        if not document.get("response", {}).get("allowed"):
            raise aiohttp.ClientError(f"not allowed: {document}")


async def _measured(hook: Hook, send: Send, rate: float, length: float) -> Turn:
    pid = hook.pid or 0
    before, started = cpu_seconds([pid]), time.perf_counter()
    seconds = await paced(send, rate, length)
    passed = time.perf_counter() - started
    return Turn(seconds, (cpu_seconds([pid]) - before) / passed, peak_mib(pid))
