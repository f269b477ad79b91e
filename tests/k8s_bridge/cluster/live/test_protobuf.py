"""Protocol buffers: what is whole is read, what is not is an error of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Gone
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.live.protobuf.fields import POD
from fourleaf.k8s_bridge.cluster.live.protobuf.frames import PROTOBUF, frames, pod_event_of
from fourleaf.k8s_bridge.cluster.live.protobuf.wire import message
from tests.k8s_bridge.cluster.live.server import answer, serving


def _field(number: int, content: bytes) -> bytes:
    """Write a field of bytes, of fewer than 128."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def _varint(number: int) -> bytes:
    """Write a number of at least 128 and less than 2**21."""
    return bytes([number & 127 | 128, number >> 7 & 127 | 128, number >> 14])


def _wrapped(content: bytes) -> bytes:
    return b"k8s\0" + _field(2, content)


def _event(kind: bytes, content: bytes) -> bytes:
    return _field(1, kind) + _field(2, _field(1, _wrapped(content)))


def _frame(content: bytes) -> bytes:
    return len(content).to_bytes(4) + content


# metadata: name "p", resourceVersion "7", generation 300 (two bytes), deletion grace 0
_METADATA = _field(1, b"p") + _field(6, b"7") + b"\x38\xac\x02" + b"\x50\x00"
_POD = _field(1, _METADATA) + _field(3, _field(1, b"Pending"))
_READ = {
    "metadata": {
        "name": "p",
        "resourceVersion": "7",
        "generation": 300,
        "deletionGracePeriodSeconds": 0,
    },
    "status": {"phase": "Pending"},
}


def _annotated(value: bytes) -> bytes:
    return _field(1, _field(12, _field(1, b"k") + _field(2, value)))


def test_an_event() -> None:
    """Numbers of several bytes are put together, and a nought that may be absent is kept."""
    event = pod_event_of(_event(b"ADDED", _POD))
    assert (event.type, event.object) == ("ADDED", _READ)


def test_what_nobody_asked_for_is_skipped() -> None:
    """Fields of all wire types that the schema does not name change nothing."""
    strange = b"\xf8\x07\xff\xff\x03" + b"\xf1\x07" + b"8" * 8 + b"\xf5\x07" + b"4" * 4
    event = pod_event_of(_event(b"ADDED", strange + _POD + _field(9, b"more")))
    assert event.object == _READ


@pytest.mark.parametrize("cut", range(1, len(_POD)))
def test_a_pod_that_is_cut_off(cut: int) -> None:
    """A message that ends too early is an error, or lacks its last whole fields; never more."""
    try:
        event = pod_event_of(_event(b"ADDED", _POD[:cut]))
    except ClusterError:
        return
    assert cut == len(_field(1, _METADATA))
    assert event.object == {"metadata": _READ["metadata"]}


@pytest.mark.parametrize("frame", [b"\x0b", b"\xff", _field(2, _field(1, b"json{}"))])
def test_what_is_no_event(frame: bytes) -> None:
    """Groups, numbers without an end, and objects that are not wrapped are errors."""
    with pytest.raises(ClusterError, match="not what the API says"):
        pod_event_of(frame)


def test_long_containers_are_not_remembered() -> None:
    """Else a thousand of one tenant would take as much memory as they take to write down."""
    long = b"".join(_field(7, _field(1, b"V") + _field(2, b"x" * 100)) for _ in range(200))
    container = _field(1, b"main") + long
    spec = b"\x12" + _varint(len(container)) + container
    pods = [message(POD, one, 0, len(one)) for one in [b"\x12" + _varint(len(spec)) + spec] * 2]
    assert pods[0] == pods[1] == {"spec": {"containers": [{"name": "main"}]}}
    one, other = (pod["spec"]["containers"][0] for pod in pods)
    assert one is not other


def test_text_that_is_none() -> None:
    """One pod with bytes in an annotation that are no UTF-8 does not end a watch."""
    event = pod_event_of(_event(b"ADDED", _annotated(b"a\xffb")))
    assert event.object["metadata"]["annotations"] == {"k": "a\ufffdb"}


def test_a_time_that_is_none() -> None:
    """Nor does one that started in a year that no calendar has."""
    status = _field(3, _field(7, b"\x08" + b"\xff" * 8 + b"\x7f") + _field(1, b"Pending"))
    assert pod_event_of(_event(b"ADDED", status)).object == {"status": {"phase": "Pending"}}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
async def test_frames_in_pieces(size: int) -> None:
    """Frames are whole however their bytes come; what follows the last one is dropped."""
    sent = _frame(b"one") + _frame(b"") + _frame(b"x" * 40) + b"\0\0\0\x09half"

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(sent), size):
            yield sent[at : at + size]

    assert [frame async for frame in frames(chunks())] == [b"one", b"", b"x" * 40]


async def test_a_watch(tmp_path: Path) -> None:
    """A watch of pods that is answered so is read so, and its errors are errors."""
    # Status: code 410 (two bytes), reason "Expired"
    gone = _field(4, b"Expired") + b"\x30\x9a\x03"
    sent = _frame(_event(b"ADDED", _POD)) + _frame(_event(b"ERROR", gone))
    said = answer(200, sent, f"Content-Type: {PROTOBUF};stream=watch\r\n")
    async with serving(tmp_path, said) as (cluster, server):
        events = aiter(cluster.watch(PODS, "1"))
        assert (await anext(events)).object == _READ
        with pytest.raises(Gone):
            await anext(events)
    assert server.headers[0]["accept"] == f"{PROTOBUF};stream=watch, application/json"


async def test_a_refusal(tmp_path: Path) -> None:
    """So is a refusal before anything is watched."""
    refusal = _wrapped(_field(3, b"too old") + _field(4, b"Expired") + b"\x30\x9a\x03")
    said = answer(410, refusal, f"Content-Type: {PROTOBUF}\r\n")
    async with serving(tmp_path, said) as (cluster, _):
        with pytest.raises(Gone, match="too old") as raised:
            await anext(aiter(cluster.watch(PODS, "1")))
    assert raised.value.reason == "Expired"
