"""Crowding: which connection makes room where a server has as many as it may have.

One client must not keep the others out. An idle connection goes first. Then the oldest whose
request has not arrived yet, of the address that has most of these: a client in good order needs
milliseconds for that, one that holds connections open needs them for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol, TypeVar


class Connection(Protocol):
    """What is looked at of a connection."""

    @property
    def address(self) -> str:
        """The address of its client."""

    @property
    def opened(self) -> float:
        """When it was opened, in seconds of any clock."""

    @property
    def is_idle(self) -> bool:
        """Whether it waits for its next request."""

    @property
    def is_arriving(self) -> bool:
        """Whether its request has begun, or is its first, and has not arrived as a whole."""


AnyConnection = TypeVar("AnyConnection", bound=Connection)


def makes_room(connections: Iterable[AnyConnection]) -> AnyConnection | None:
    """The connection that goes for a new one; None where all are being answered."""
    held = list(connections)
    idle = [one for one in held if one.is_idle]
    if idle:
        return min(idle, key=lambda one: one.opened)
    arriving = [one for one in held if one.is_arriving]
    share = Counter(one.address for one in arriving)
    return min(arriving, key=lambda one: (-share[one.address], one.opened), default=None)
