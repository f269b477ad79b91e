"""Watches in protocol buffers: frames of a length and an event, whose object is wrapped.

Source: k8s.io/apimachinery/pkg/runtime/serializer/protobuf and its package `framer`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.live.protobuf.fields import POD, STATUS
from fourleaf.k8s_bridge.cluster.live.protobuf.wire import (
    BadMessage,
    Body,
    Schema,
    Take,
    message,
    one,
    text,
)
from fourleaf.k8s_bridge.cluster.protocol import WatchEvent
from fourleaf.k8s_bridge.cluster.slim import trimmed

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"
"""What every object starts with that does not stand in a field of another."""
_LENGTH = 4


def _span(number: int, name: str) -> tuple[int, Take]:
    """Where a field is, for a reader that knows what it holds."""

    def take(found: Body, _: bytes, at: int, end: int) -> None:
        found[name] = (at, end)

    return number << 3 | 2, take


_EVENT: Schema = dict((text(1, "type"), one(2, "object", _span(1, "raw"))))
_WRAPPED: Schema = dict((_span(2, "raw"),))


async def frames(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The content of each whole frame; what follows the last one is dropped."""
    rest = b""
    async for chunk in chunks:
        rest += chunk
        at = 0
        while len(rest) - at >= _LENGTH:
            end = at + _LENGTH + int.from_bytes(rest[at : at + _LENGTH])
            if end > len(rest):
                break
            yield rest[at + _LENGTH : end]
            at = end
        rest = rest[at:]


def pod_event_of(frame: bytes) -> WatchEvent:
    """An event about a pod, slim; of type `ERROR` with a Status. Raises `ClusterError`."""
    try:
        event = message(_EVENT, frame, 0, len(frame))
        at, end = event.get("object", {}).get("raw", (0, 0))
        if event.get("type") == "ERROR":
            return WatchEvent("ERROR", _unwrapped(STATUS, frame, at, end))
        return WatchEvent(event.get("type", ""), trimmed(PODS, _unwrapped(POD, frame, at, end)))
    except ValueError as error:
        raise ClusterError(f"pods: the answer is not what the API says: {error}") from error


def status_of(content: bytes) -> Body:
    """The Status that the API answered. Raises `BadMessage`."""
    return _unwrapped(STATUS, content, 0, len(content))


def _unwrapped(schema: Schema, data: bytes, at: int, end: int) -> Body:
    if not data.startswith(MAGIC, at, end):
        raise BadMessage(f"byte {at}: an object starts with {data[at : at + 4]!r}, not {MAGIC!r}")
    wrapped = message(_WRAPPED, data, at + len(MAGIC), end)
    return message(schema, data, *wrapped.get("raw", (end, end)))
