"""The certificate changes under the clients' hands, and none of them notices."""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import replace

from cryptography import x509

from fourleaf.webhook.tls.issue import issued
from fourleaf.webhook.tls.pair import Pair
from tests.webhook.http.server import GOOD, Running, answer_of, request, running, trusting
from tests.webhook.tls.made import rsa_pair


def serial(pair: Pair) -> int:
    """Which certificate it is."""
    return pair.leaf.serial_number


async def shown(server: Running, bundle: bytes) -> int:
    """The serial number of the certificate that a new handshake is shown."""
    _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trusting(bundle))
    content = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return x509.load_der_x509_certificate(content).serial_number


def next_pair(server: Running) -> Pair:
    """Another certificate of the server's authority."""
    return issued(server.authority, ["127.0.0.1"], time.time(), 3600)


async def test_new_handshakes_see_the_new_one_and_old_connections_live_on() -> None:
    """A connection from before is still answered after two changes."""
    async with running() as server:
        bundle = server.authority.certificate
        reader, writer = await server.connect()
        for _ in range(2):
            pair = next_pair(server)
            assert server.certificate.offer(pair)
            assert await shown(server, bundle) == serial(pair)
        writer.write(request(GOOD))
        assert (await answer_of(reader)).code == 200
        writer.transport.abort()


async def test_from_one_kind_of_key_to_another_and_back() -> None:
    """With RSA in between, nothing of it is left for a client that would take either."""
    async with running() as server:
        other = rsa_pair(time.time() - 60, time.time() + 3600)
        bundle = server.authority.certificate + other.certificate
        assert server.certificate.offer(other)
        assert await shown(server, bundle) == serial(other)
        pair = next_pair(server)
        assert server.certificate.offer(pair)
        assert await shown(server, bundle) == serial(pair)


async def test_a_broken_one_keeps_the_old_one_and_is_counted() -> None:
    """The metric rises by one for each, and the date stays that of what is in use."""
    async with running() as server:
        good = server.certificate.pair
        assert good is not None
        for broken in (
            replace(next_pair(server), key=b""),
            Pair(b"", b""),
            issued(server.authority, ["127.0.0.1"], time.time() - 7200, 3600),
        ):
            assert not server.certificate.offer(broken)
            assert await shown(server, server.authority.certificate) == serial(good)
        value = server.metrics.registry.get_sample_value
        assert value("fourleaf_webhook_certificate_reload_failures_total") == 3
        until = value("fourleaf_webhook_certificate_not_after_seconds")
        assert until == good.not_after


async def test_no_handshake_fails_while_it_changes() -> None:
    """300 handshakes, by several clients at once, over 100 changes."""
    async with running() as server:
        pairs = [next_pair(server) for _ in range(10)]
        done = asyncio.Event()

        async def change() -> None:
            for turn in range(100):
                assert server.certificate.offer(pairs[turn % len(pairs)])
                await asyncio.sleep(0.005)
            done.set()

        async def shake() -> int:
            count = 0
            while not done.is_set() or count < 100:
                assert await server.serves()
                count += 1
            return count

        counts = await asyncio.gather(shake(), shake(), shake(), change())
        assert sum(count or 0 for count in counts) >= 300


async def test_without_a_certificate_nobody_gets_in() -> None:
    """A handshake fails, and works once there is one."""
    async with running() as server:
        empty = type(server.certificate)(server.certificate._clock, server.metrics)
        listening = await asyncio.get_running_loop().create_server(
            asyncio.Protocol, "127.0.0.1", 0, ssl=empty.context
        )
        port = listening.sockets[0].getsockname()[1]
        there = replace(server, port=port)
        bundle = server.authority.certificate
        try:
            await shown(there, bundle)
        except (ssl.SSLError, ConnectionError):
            pass
        else:
            raise AssertionError("a handshake without a certificate")
        pair = next_pair(server)
        assert empty.offer(pair)
        assert await shown(there, bundle) == serial(pair)
        listening.close()
