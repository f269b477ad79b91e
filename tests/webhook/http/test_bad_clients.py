"""Whatever a client sends, the server answers or closes, and goes on serving."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from tests.webhook.http.server import GOOD, LIMITS, Answer, Running, answer_of, request, running
from tests.webhook.made import Body, pod, review

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[Running]:
    """One server for everything that is done to it here."""
    async with running() as one:
        yield one


@pytest_asyncio.fixture(loop_scope="module")
async def server(shared: Running) -> AsyncIterator[Running]:
    """The server, which still serves after the test."""
    yield shared
    assert await shared.serves()


def edited(**changes: object) -> bytes:
    """A good review with parts of its request changed, or left out where None."""
    document = review(pod())
    for key, value in changes.items():
        if value is None:
            del document["request"][key]
        else:
            document["request"][key] = value
    return json.dumps(document).encode()


def versioned(**changes: str) -> bytes:
    """A good review of another version or kind."""
    return json.dumps({**review(pod()), **changes}).encode()


def nested(depth: int) -> bytes:
    """A review with an annotation's place taken by lists within lists."""
    body = json.dumps(review(pod(annotations={"x": "HERE"}))).encode()
    return body.replace(b'"HERE"', b"[" * depth + b"]" * depth)


NO_REVIEW = [
    ("nothing", b"", "is not JSON"),
    ("no JSON", b"{", "ends too early"),
    ("half a review", GOOD[:-20], "ends too early"),
    ("a list", b"[]", "body"),
    ("a number", b"1", "body"),
    ("null", b"null", "body"),
    ("an older version", versioned(apiVersion="admission.k8s.io/v1beta1"), "v1beta1"),
    ("another kind", versioned(kind="ConversionReview"), "ConversionReview"),
    ("no request", b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', "request"),
    ("no uid", edited(uid=None), "request.uid"),
    ("an empty uid", edited(uid=""), "request.uid"),
    ("a uid that is a number", edited(uid=7), "request.uid"),
    ("a uid of 1 MiB less a bit", edited(uid="u" * 900_000), "request.uid"),
    ("no user", edited(userInfo=None), "request.userInfo"),
    ("an unknown operation", edited(operation="PATCH"), "request.operation"),
    ("an object that is text", edited(object="pod"), "request.object"),
    ("NaN", GOOD.replace(b'"dryRun": false', b'"dryRun": NaN'), "is not JSON"),
    ("infinity", GOOD.replace(b'"dryRun": false', b'"dryRun": 1e999'), "is not JSON"),
    ("invalid UTF-8", GOOD.replace(b'"ml"', b'"\xff\xfe"'), "UTF-8"),
    ("half a surrogate", GOOD.replace(b'"ml"', b'"\\ud800"'), "is not JSON"),
    ("one key twice", GOOD.replace(b'"dryRun"', b'"uid": "other", "dryRun"'), "twice"),
    ("depth 300", nested(300), "nested too deeply"),
    ("depth 100,000", nested(100_000), "nested too deeply"),
    ("100,000 open brackets", b"[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(
    ("body", "said"), [c[1:] for c in NO_REVIEW], ids=[c[0] for c in NO_REVIEW]
)
async def test_what_is_no_review(server: Running, body: bytes, said: str) -> None:
    """400 and a Status that says what is wrong with it."""
    answer = await server.ask(body)
    assert answer.code == 400
    assert (answer.document["kind"], answer.document["status"]) == ("Status", "Failure")
    assert said in answer.document["message"]
    assert len(answer.document["message"]) < 1000


NO_SENSE = [
    ("no object", edited(object=None), "request.object is missing"),
    ("an update of nothing", edited(operation="UPDATE", oldObject=None), "oldObject is missing"),
    ("an object of another kind", edited(object={"kind": "Job", "spec": {}}), "kind is not Pod"),
    ("a spec that is a list", edited(object={"kind": "Pod", "spec": []}), "spec is not an object"),
    ("metadata in text", edited(object={"kind": "Pod", "metadata": ""}), "metadata is not an"),
]


@pytest.mark.parametrize("path", ["/validate", "/mutate", "/mutate/default"])
@pytest.mark.parametrize(("body", "said"), [c[1:] for c in NO_SENSE], ids=[c[0] for c in NO_SENSE])
async def test_a_review_that_makes_no_sense(
    server: Running, body: bytes, said: str, path: str
) -> None:
    """A refusal under its own uid, for there is one to answer."""
    answer = await server.ask(body, path)
    response = answer.document["response"]
    assert (answer.code, response["allowed"], response["status"]["code"]) == (200, False, 400)
    assert response["uid"] == review(None)["request"]["uid"]
    assert said in response["status"]["message"]


def _strange(field: str, value: object) -> Body:
    body = copy.deepcopy(pod())
    body["spec"][field] = value
    return body


VALUES: list[Any] = [
    None,
    1,
    "x",
    [],
    {},
    [None],
    ["x"],
    [{"env": "x"}],
    [{"env": [None, 1]}],
    [{"resources": 1, "securityContext": [], "hostPath": "x"}],
]
STRANGE = [
    _strange(field, value)
    for field in ("containers", "initContainers", "volumes", "schedulerName", "nodeName")
    for value in VALUES
]


@pytest.mark.parametrize("path", ["/validate", "/mutate", "/mutate/default"])
async def test_pods_of_strange_shapes(server: Running, path: str) -> None:
    """The API server sends none of these; each is answered by a review nevertheless."""
    for body in STRANGE:
        answer = await server.ask(json.dumps(review(body)).encode(), path)
        assert answer.code == 200, body
        assert "allowed" in answer.document["response"]


async def test_a_long_annotation_is_no_trouble(server: Running) -> None:
    """200 KiB of what means nothing here pass; as a map they are refused, briefly."""
    long = "x" * 200 * 1024
    answer = await server.ask(json.dumps(review(pod(annotations={"note": long}))).encode())
    assert answer.document["response"]["allowed"]
    lines = "0=n:0\n" * (200 * 1024 // 6)
    answer = await server.ask(
        json.dumps(review(pod("p-0", {"gpu-scheduling-map": lines}))).encode()
    )
    assert not answer.document["response"]["allowed"]
    assert len(json.dumps(answer.document)) < 64 * 1024


async def test_wrong_doors(server: Running) -> None:
    """Other paths, methods and types get the status that says so."""
    assert (await server.ask(path="/other")).code == 404
    assert (await server.send(request(b"", method="GET"))).code == 405
    assert (await server.ask(content_type="application/x-yaml")).code == 415
    assert (await server.ask(content_type="")).code == 415
    assert (await server.ask(content_type="application/json; charset=utf-8")).code == 200


async def too_long_announced(server: Running) -> Answer:
    """1 GiB is announced, of which nothing comes."""
    return await server.send(request(b"", content_length=str(2**30)))


async def absurdly_long(server: Running) -> Answer:
    """A length of 300 digits."""
    return await server.send(request(b"", content_length="9" * 300))


async def too_long_streamed(server: Running) -> Answer:
    """Twice of what is taken arrives in chunks, none of them announced."""
    chunk = b"%x\r\n%b\r\n" % (2**16, b" " * 2**16)
    head = request(b"", content_length="", transfer_encoding="chunked")
    return await pour(server, head, chunk)


async def endless_chunks(server: Running) -> Answer:
    """One byte at a time, for ever."""
    head = request(b"", content_length="", transfer_encoding="chunked")
    return await pour(server, head, b"1\r\n \r\n", pause=0.02)


async def endless_extension(server: Running) -> Answer:
    """A chunk whose size never ends."""
    head = request(b"", content_length="", transfer_encoding="chunked")
    return await pour(server, head + b"1;", b"x" * 1000, pause=0.02)


async def endless_trailers(server: Running) -> Answer:
    """An empty body in chunks, and line after line behind it: a gigabyte in seconds, once."""
    head = request(b"", content_length="", transfer_encoding="chunked")
    return await pour(server, head + b"0\r\n", b"a: b\r\n" * 1000)


async def slow_body(server: Running) -> Answer:
    """Part of a body, and no more."""
    return await server.send(request(GOOD)[:-10])


async def slow_head(server: Running) -> Answer:
    """A head, letter by letter."""
    return await pour(server, b"POST /validate HTTP/1.1\r\nx: ", b"y", pause=0.05)


async def silence(server: Running) -> Answer:
    """A connection on which nothing is said."""
    return await server.send()


async def endless_head(server: Running) -> Answer:
    """Header after header."""
    return await pour(server, b"POST /validate HTTP/1.1\r\n", b"x: " + b"y" * 500 + b"\r\n")


async def no_http(server: Running) -> Answer:
    """TLS, and then something else."""
    reader, writer = await server.connect()
    writer.write(b"\x16\x03\x01\x00\xff\r\n\r\n")
    return await first_of(reader, writer)


async def newer_http(server: Running) -> Answer:
    """The preface of HTTP/2, which nobody has offered."""
    reader, writer = await server.connect()
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    return await first_of(reader, writer)


async def two_lengths(server: Running) -> Answer:
    """Two lengths that differ, as smugglers send them."""
    reader, writer = await server.connect()
    writer.write(request(b"", content_length="5\r\ncontent-length: 6"))
    return await first_of(reader, writer)


async def first_of(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Answer:
    """The status of whatever is answered, in JSON or not."""
    line = await asyncio.wait_for(reader.readline(), 20)
    writer.transport.abort()
    return Answer(int(line.split()[1]) if line else 0)


async def pour(server: Running, head: bytes, again: bytes, pause: float = 0.0) -> Answer:
    """Send `head`, then `again` until the server has had enough."""
    reader, writer = await server.connect()
    writer.write(head)

    async def go_on() -> None:
        while True:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause)

    pouring = asyncio.create_task(go_on())
    try:
        return await answer_of(reader)
    finally:
        pouring.cancel()
        await asyncio.gather(pouring, return_exceptions=True)
        writer.transport.abort()


@pytest.mark.parametrize(
    ("bad", "codes"),
    [
        (too_long_announced, {413}),
        (absurdly_long, {400, 413}),
        # A client that still sends may lose the answer to the end of the connection.
        (too_long_streamed, {413, 0}),
        (endless_chunks, {408, 0}),
        (endless_extension, {400, 408, 431, 0}),
        (endless_trailers, {431, 0}),
        (slow_body, {408}),
        (slow_head, {408, 0}),
        (silence, {408}),
        (endless_head, {431, 0}),
        (no_http, {400, 0}),
        (newer_http, {400, 404, 405, 0}),
        (two_lengths, {400}),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
async def test_bad_manners(
    server: Running, bad: Callable[[Running], Awaitable[Answer]], codes: set[int]
) -> None:
    """Each ends by an answer or a closed connection, in the time that any request has."""
    answer = await asyncio.wait_for(bad(server), 15)
    assert answer.code in codes


async def test_long_bodies_share_a_limit() -> None:
    """Half of 4 MiB is for others: of three of 1 MiB one is too many; a usual review passes."""
    limits = replace(LIMITS, body=2 * 2**20, held=4 * 2**20)
    async with running(limits) as server:
        long = request(b" " * 2**20 + GOOD)
        held = [await server.connect() for _ in range(2)]
        for _, writer in held:
            writer.write(long[:-10])
            await writer.drain()
        await asyncio.sleep(0.3)
        assert (await server.send(long)).code in (503, 0)
        assert await server.serves()
        for reader, writer in held:
            writer.write(long[-10:])
            assert (await answer_of(reader)).code == 200
            writer.transport.abort()
        assert (await server.send(long)).code == 200


async def test_no_tls(server: Running) -> None:
    """Plain HTTP on the port gets no word."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request(GOOD))
    try:
        said = await asyncio.wait_for(reader.read(), 15)
    except ConnectionError:
        said = b""
    writer.close()
    assert b"HTTP/1.1" not in said


async def test_no_handshake(server: Running) -> None:
    """A connection that never begins TLS is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    with contextlib.suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(), 15) == b""
    writer.close()


async def test_handshakes_that_never_end_are_few(server: Running) -> None:
    """As many as connections are held, however many are begun, and others are served meanwhile."""
    hello = client_hello(server)
    pairs = []
    for begun in range(20 * LIMITS.connections):
        pairs.append(await asyncio.open_connection("127.0.0.1", server.port))
        pairs[-1][1].write(hello[: begun % len(hello)])
    assert await server.serves()
    still = [reader for reader, _ in pairs if reader.exception() is None and not reader.at_eof()]
    assert 0 < len(still) <= LIMITS.connections
    await dropped(server, pairs)


async def test_a_slow_handshake_of_another_address_goes_on(server: Running) -> None:
    """The address that has begun most handshakes loses its oldest one, not the oldest of all."""
    hello = client_hello(server)
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", server.port, local_addr=("127.0.0.2", 0)
    )
    writer.write(hello[:100])
    pairs = [
        await asyncio.open_connection("127.0.0.1", server.port)
        for _ in range(3 * LIMITS.connections)
    ]
    writer.write(hello[100:])
    assert (await asyncio.wait_for(reader.read(3), 15))[:2] == b"\x16\x03"
    await dropped(server, [*pairs, (reader, writer)])


async def test_too_many(server: Running) -> None:
    """Where all have half a review to send, the oldest goes for a new one; the rest go on."""
    await emptied(server)
    pairs = [await server.connect() for _ in range(LIMITS.connections)]
    for _, writer in pairs:
        writer.write(request(GOOD)[:-20])
    assert await server.serves()
    (oldest, _), *others = pairs
    assert (await answer_of(oldest)).code == 0
    for reader, writer in others:
        writer.write(request(GOOD)[-20:])
        assert (await answer_of(reader)).code == 200
    await dropped(server, pairs)


async def test_idle_connections_make_room(server: Running) -> None:
    """Whoever only holds connections keeps nobody out."""
    await emptied(server)
    pairs = [await server.connect() for _ in range(LIMITS.connections)]
    for reader, writer in pairs:
        writer.write(request(GOOD))
        assert (await answer_of(reader)).code == 200
    for _ in range(3):
        assert await server.serves()
    await dropped(server, pairs)


def client_hello(server: Running) -> bytes:
    """The first message of a handshake."""
    written = ssl.MemoryBIO()
    client = server.trust().wrap_bio(ssl.MemoryBIO(), written, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return written.read()


Pairs = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]


async def emptied(server: Running) -> None:
    """Wait until nobody is connected."""
    async with asyncio.timeout(20):
        while server.listener.server_state.connections:
            await asyncio.sleep(0.01)


async def dropped(server: Running, pairs: Pairs) -> None:
    """Drop connections, and wait until the server knows."""
    for _, writer in pairs:
        writer.transport.abort()
    await emptied(server)


async def test_many_requests_on_one_connection(server: Running) -> None:
    """The clock of a request is its own: a connection outlives the time that one request has."""
    reader, writer = await server.connect()
    for _ in range(3):
        writer.write(request(GOOD))
        assert (await answer_of(reader)).code == 200
        await asyncio.sleep(LIMITS.request * 0.6)
    writer.write(request(GOOD) * 3)
    assert [(await answer_of(reader)).code for _ in range(3)] == [200, 200, 200]
    writer.transport.abort()


async def test_bad_requests_are_counted(server: Running) -> None:
    """Malformed ones by the path that they came to."""

    def count() -> float:
        labels = {"path": "/mutate/default", "result": "malformed"}
        name = "fourleaf_webhook_requests_total"
        return server.metrics.registry.get_sample_value(name, labels) or 0.0

    before = count()
    await server.ask(b"{", "/mutate/default")
    assert count() == before + 1
