"""How messages between the parent and the solver process are framed, and how large they may be.

Loads nothing that takes time: the process starts while its parent still loads what they say.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourleaf.model.snapshot import Snapshot

HEADER = struct.Struct(">Q")
"""Every message is its length in bytes, then that many bytes."""

READY = 0
"""The call number of the reply that says that the worker has loaded; calls count from 1."""


class WireError(ValueError):
    """What came over the pipe is not a message of this protocol."""


@dataclass(frozen=True, slots=True)
class Size:
    """The most bytes, and the most JSON values, that an honest reply can have.

    Reading a reply cannot be interrupted. It costs about 0.1 us a value, and little a byte.
    """

    length: int = 2**20
    values: int = 10_000

    @classmethod
    def of_plan(cls, snapshot: Snapshot) -> Size:
        """Bound a plan of any kind for `snapshot`.

        Each gang, node and waiting pod appears once, with its name; a pod that stands may
        appear as a move or as a victim.
        """
        standing = [one.gang for one in snapshot.standing]
        gangs, nodes = len(snapshot.gangs) + len(standing), len(snapshot.fabric.nodes)
        pods = sum(len(role.pods) for gang in snapshot.gangs for role in gang.roles)
        pods += 2 * sum(role.size for gang in standing for role in gang.roles)
        terms = len(snapshot.config.spec.scoring_weights)
        return cls(
            length=2**20 + 1024 * (pods + nodes) + 4096 * gangs,
            values=10_000 + 6 * pods + 10 * nodes + (100 + 5 * terms) * gangs,
        )


def frame(payload: bytes) -> bytes:
    """Put the length of `payload` in front."""
    return HEADER.pack(len(payload)) + payload


class Inbox:
    """Cuts the bytes that have come so far into messages of at most `limit` bytes."""

    def __init__(self) -> None:
        self.limit = Size().length
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in `data`."""
        self._bytes += data

    def next(self) -> bytes | None:
        """Take out the next whole message, `None` while it is not there. Raises `WireError`."""
        if len(self._bytes) < HEADER.size:
            return None
        (length,) = HEADER.unpack_from(self._bytes)
        if length > self.limit:
            raise WireError(f"a message of {length} bytes is announced, {self.limit} are allowed")
        end = HEADER.size + length
        if len(self._bytes) < end:
            return None
        payload = bytes(self._bytes[HEADER.size : end])
        del self._bytes[:end]
        return payload


def read_exactly(descriptor: int, count: int) -> bytes:
    """Read `count` bytes from a blocking descriptor. Raises `EOFError` where it ends before."""
    buffer = bytearray(count)
    state = memoryview(buffer)
    done = 0
    while done < count:
        got = os.readv(descriptor, [state[done:]])
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
    state = memoryview(data)
    while state:
        state = state[os.write(descriptor, state) :]
