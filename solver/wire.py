"""What the parent and the solver process say to each other, and how it is framed.

Down go requests, as pickles: the parent is trusted. Up come replies, as JSON: the child is
our own code, but its heap may be corrupt, so nothing that it sends is ever unpickled.
Every field of a reply is checked against its declared type instead.
"""

from __future__ import annotations

import os
import pickle
import struct
from dataclasses import dataclass, fields, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from model.fabric import Fabric
from model.plan import Plan, Stage
from model.snapshot import Snapshot

HEADER = struct.Struct(">Q")
"""Every message is its length in bytes, then that many bytes."""

REPLY_LIMIT = 32 * 2**20
"""No honest reply comes near this many bytes; a longer one is refused unread."""

READY = 0
"""The call number of the reply that says that the child has loaded; calls count from 1."""


class WireError(ValueError):
    """What came over the pipe is not a message of this protocol."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `fabric` is sent where the child does not hold `fabric_id` yet.

    `rest` holds the other fields of the snapshot. `seconds` is what the child may take.
    """

    call: int
    fabric_id: int
    fabric: Fabric | None
    rest: dict[str, Any]
    extensions_enabled: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What the child says to `call`: a stage that is done, the plan, or why there is none.

    `nothing`: the time was up before any plan was found, which is no failure of the child.
    """

    call: int
    stage: Stage | None = None
    plan: Plan | None = None
    nothing: bool = False
    failure: str = ""


_REPLY = TypeAdapter(Reply)


def frame(payload: bytes) -> bytes:
    """Put the length of `payload` in front."""
    return HEADER.pack(len(payload)) + payload


def encode_request(request: Request) -> bytes:
    """Make the frame of `request`. Raises what pickle raises on objects that it cannot carry."""
    # A fresh fabric leaves behind what the parent has cached in its own.
    fabric = None if request.fabric is None else replace(request.fabric)
    return frame(pickle.dumps(replace(request, fabric=fabric), protocol=5))


def decode_request(payload: bytes) -> Request:
    """Read the request in `payload`; for the child alone. Raises `WireError` on anything else."""
    request = pickle.loads(payload)  # noqa: S301 - written by the parent, which is trusted
    if not isinstance(request, Request):
        raise WireError(f"expected a request, got {type(request).__name__}")
    return request


def dynamic_part(snapshot: Snapshot) -> dict[str, Any]:
    """Collect the fields of `snapshot` that change from cycle to cycle: all but the fabric."""
    return {
        field.name: getattr(snapshot, field.name)
        for field in fields(snapshot)
        if field.name != "fabric"
    }


def encode_reply(reply: Reply) -> bytes:
    """Make the frame of `reply`."""
    return frame(_REPLY.dump_json(reply))


def decode_reply(payload: bytes) -> Reply:
    """Read the reply in `payload`. Raises `WireError` on anything else."""
    try:
        return _REPLY.validate_json(payload, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "message"
        raise WireError(f"{place}: {first['msg']}") from None


class Inbox:
    """Cuts the bytes that have come so far into messages."""

    def __init__(self, limit: int = REPLY_LIMIT) -> None:
        self._limit = limit
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in `data`."""
        self._bytes += data

    def next(self) -> bytes | None:
        """Take out the next whole message, `None` while it is not there. Raises `WireError`."""
        if len(self._bytes) < HEADER.size:
            return None
        (length,) = HEADER.unpack_from(self._bytes)
        if length > self._limit:
            raise WireError(f"a message of {length} bytes is announced, {self._limit} are allowed")
        end = HEADER.size + length
        if len(self._bytes) < end:
            return None
        payload = bytes(self._bytes[HEADER.size : end])
        del self._bytes[:end]
        return payload


def read_exactly(descriptor: int, count: int) -> bytes:
    """Read `count` bytes from a blocking descriptor. Raises `EOFError` where it ends before."""
    buffer = bytearray(count)
    view = memoryview(buffer)
    done = 0
    while done < count:
        got = os.readv(descriptor, [view[done:]])
        if not got:
            raise EOFError("the pipe has ended")
        done += got
    return bytes(buffer)


def read_frame(descriptor: int) -> bytes:
    """Read the next message on a blocking descriptor. Raises `EOFError` at the end of the pipe."""
    (length,) = HEADER.unpack(read_exactly(descriptor, HEADER.size))
    return read_exactly(descriptor, length)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data` to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
