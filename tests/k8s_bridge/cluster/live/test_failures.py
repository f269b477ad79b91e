"""Whether a request was done is what every failure has to tell."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from fourleaf.k8s_bridge.cluster.errors import (
    AlreadyExists,
    Ambiguous,
    ClusterError,
    Conflict,
    Gone,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.live import connect
from fourleaf.k8s_bridge.cluster.live.answers import error_of
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation
from fourleaf.k8s_bridge.reporting.events.relocations import what_is_forbidden
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.cluster.live.server import CUT, DROP, answer, kubeconfig, serving, status

LEASE = Target("ns", "page", "uid-1", "7")


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", Refused),
        (401, "Unauthorized", Refused),
        (403, "Forbidden", Refused),
        (404, "NotFound", NotFound),
        (405, "MethodNotAllowed", Refused),
        (409, "Conflict", Conflict),
        (409, "AlreadyExists", AlreadyExists),
        (410, "Expired", Gone),
        (413, "RequestEntityTooLarge", Refused),
        (415, "UnsupportedMediaType", Refused),
        (422, "Invalid", Refused),
        (429, "TooManyRequests", Throttled),
        (500, "InternalError", Ambiguous),
        (502, "", Ambiguous),
        (503, "ServiceUnavailable", Throttled),
        (504, "Timeout", Ambiguous),
    ],
)
async def test_status(tmp_path: Path, code: int, reason: str, kind: type[ClusterError]) -> None:
    """Each HTTP status is the error that the bridge knows it as, and keeps its reason."""
    async with serving(tmp_path, status(code, reason)) as (cluster, _):
        with pytest.raises(ClusterError) as caught:
            await cluster.bind(Binding(Target("ns", "p"), "n1"))
    assert type(caught.value) is kind
    assert (caught.value.status, caught.value.reason) == (code, reason)
    assert "pods/p/binding" in str(caught.value)
    assert "said" in str(caught.value)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (status(404, "NotFound"), NotFound),
        (answer(404, "default backend - 404"), Ambiguous),
        (status(404, ""), Ambiguous),
    ],
)
async def test_what_is_not_there_is_told_by_the_server(
    tmp_path: Path, told: bytes, kind: type[ClusterError]
) -> None:
    """A proxy without a backend knows no object; a list says what is not served at all."""
    async with serving(tmp_path, told, told, told) as (cluster, _):
        for asked in (cluster.get(LEASES, LEASE), cluster.delete(LEASES, LEASE)):
            with pytest.raises(ClusterError) as caught:
                await asked
            assert type(caught.value) is kind
        with pytest.raises(NotFound):
            await cluster.list(LEASES)


async def test_retry_after(tmp_path: Path) -> None:
    """What the server asks for, in its header or in its Status, is handed on in seconds."""
    by_header = answer(429, {}, "Retry-After: 3\r\n")
    by_body = status(429, "TooManyRequests", retryAfterSeconds=10)
    no_number = answer(429, {}, "Retry-After: nan\r\n")
    async with serving(tmp_path, by_header, by_body, status(429), no_number) as (cluster, _):
        waits = []
        for _ in range(4):
            with pytest.raises(Throttled) as caught:
                await cluster.evict(Target("ns", "p"))
            waits.append(caught.value.retry_after)
    assert waits == [3.0, 10.0, None, None]


async def test_a_long_refusal_keeps_its_end(tmp_path: Path) -> None:
    """The API server repeats the value first, and says what is wrong with it after that."""
    said = f"spec: Invalid value: {'x' * 9000}: field is immutable"
    body = json.dumps({"message": said, "reason": "Invalid"}).encode()
    async with serving(tmp_path, answer(422, body)) as (cluster, _):
        with pytest.raises(Refused) as caught:
            await cluster.get(PODS, Target("ns", "p"))
    assert "spec: Invalid value" in str(caught.value)
    assert str(caught.value).endswith("field is immutable")
    assert len(str(caught.value)) < 700


async def test_refusal_that_is_not_json(tmp_path: Path) -> None:
    """The words of a proxy that knows no JSON are in the message."""
    async with serving(tmp_path, answer(502, b"<b>bad gateway</b>")) as (cluster, _):
        with pytest.raises(Ambiguous, match="bad gateway"):
            await cluster.get(PODS, Target("ns", "p"))


async def test_answer_that_is_not_json(tmp_path: Path) -> None:
    """An answer that cannot be read is an error of the cluster, not of ours."""
    async with serving(tmp_path, answer(200, b"<b>hello</b>")) as (cluster, _):
        for ask in (cluster.get(PODS, Target("ns", "p")), cluster.list(PODS)):
            with pytest.raises(ClusterError):
                await ask


async def test_nobody_listens(tmp_path: Path) -> None:
    """Where there is no connection nothing was done."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        cluster = await connect(str(kubeconfig(tmp_path, free.getsockname()[1])))
        with pytest.raises(Throttled) as caught:
            await cluster.bind(Binding(Target("ns", "p"), "n1"))
        assert caught.value.status == 0
        with pytest.raises(Throttled):
            async for _ in cluster.watch(PODS, "1"):
                pass
        await cluster.close()
    assert cluster.traffic.requests["create", "pods/binding", 0] == 1


@pytest.mark.parametrize("verb", ["create", "replace", "patch", "delete", "bind", "evict"])
async def test_no_answer_and_no_second_try(tmp_path: Path, verb: str) -> None:
    """A write whose connection broke is ambiguous, and was sent once, not again."""
    ask = {
        "create": lambda c: c.create(LEASES, "ns", {"metadata": {"name": "page"}}),
        "replace": lambda c: c.replace(LEASES, LEASE, {}),
        "patch": lambda c: c.patch(LEASES, LEASE, {}),
        "delete": lambda c: c.delete(LEASES, LEASE),
        "bind": lambda c: c.bind(Binding(LEASE, "n1")),
        "evict": lambda c: c.evict(LEASE),
    }[verb]
    async with serving(tmp_path, answer(200, {}), DROP) as (cluster, server):
        # the connection is in use before: only such ones does aiohttp try again
        await cluster.get(LEASES, LEASE)
        with pytest.raises(Ambiguous) as caught:
            await ask(cluster)
    assert caught.value.status == 0
    assert len(server.requests) == 2


async def test_half_an_answer(tmp_path: Path) -> None:
    """An answer that breaks off is no answer."""
    half = b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{}"
    async with serving(tmp_path, half + CUT) as (cluster, _):
        with pytest.raises(Ambiguous):
            await cluster.create(LEASES, "ns", {"metadata": {"name": "page"}})


async def test_patch_of_another_uid(tmp_path: Path) -> None:
    """The 422 that answers a patch of another object's UID is a conflict."""
    causes = [{"field": "metadata.uid", "reason": "FieldValueInvalid"}]
    async with serving(tmp_path, status(422, "Invalid", causes=causes)) as (cluster, _):
        with pytest.raises(Conflict):
            await cluster.patch(PODS, LEASE, {})


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (
            "The disruption budget keep does not allow evicting pods currently because it failed "
            "sync: jobs.batch does not implement the scale subresource",
            "state minAvailable of its disruption budget as a number of pods, or delete the pod",
        ),
        (
            "The disruption budget keep needs 4 healthy pods and has 4 currently",
            "raise its disruption budget, or delete the pod",
        ),
    ],
)
def test_a_budget_that_cannot_be_counted_has_advice_of_its_own(said: str, advice: str) -> None:
    """However high it is raised, the API lets no pod go: the event of the pod says what would."""
    body = {
        "message": "Cannot evict pod as it would violate the pod's disruption budget.",
        "reason": "TooManyRequests",
        "details": {"causes": [{"reason": "DisruptionBudget", "message": said}]},
    }
    error = error_of("evict pod ml/g-0", 429, {}, json.dumps(body).encode())
    leaver = Leaver(Target("ml", "g-0", "a"), "n1")
    one = Relocation(GangKey("ml", "g"), Purpose.REPAIR, (), (leaver,), why="n1 is drained")
    assert what_is_forbidden(one, leaver, str(error)).note.endswith(f"To unblock: {advice}")
