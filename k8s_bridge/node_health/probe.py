"""Probe, the second witness: whether the host of a node answers at its kubelet's port.

Any answer will do. A host that refuses the connection is alive, and so may be its pods,
whatever has become of the kubelet. One that is silent is probed again before that counts, as
the probes of containers have it.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.runtime.concurrency import together

KUBELET_PORT = 10250
PROBE_TIMEOUT_SECONDS = 1.0
"""Seconds that a host may take to answer."""

FAILURE_THRESHOLD = 3
"""A host that does not answer so many probes in a row, a look apart, does not answer."""

PROBES_AT_ONCE = 256
"""Each takes a file, and time of the event loop."""

MOST_ADDRESSES = 3
"""Addresses of a host at which it is probed: one of them may not be reached from here."""

CONTROL_NODES = 3
"""Nodes that are well and are probed too, to see whether hosts can be heard from here."""

HEARD_SHARE = 0.5
"""Of those that could be asked, what has to answer: one alone may be the host of this process."""

LATE_SHARE = 1.5
"""A probe that took so many times its timeout says that this process was late, not the host."""

LATE_ANSWER_SECONDS = 0.05
"""What came while the event loop stood still is handled in so much time beyond the timeout."""

ALIVE_ERRNOS = frozenset({errno.ECONNREFUSED, errno.ECONNRESET})
"""Errors of a connection that only a living host can cause."""

UNREACHABLE_ERRNOS = frozenset(
    {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT}
)
"""Errors of a connection to a host that does not answer, or to which there is no way from here:
then there is none to its like either, which those show that are probed beside it."""

ABSENT_ERRNOS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL})
"""Errors of an address of a kind that is not to be had here: of IPv6 where this process has none,
or of one link alone. They come whatever the host does, and for as long as this process lives. All
errors that are left are our own: no files, no memory."""


@dataclass(frozen=True, slots=True)
class KubeletAddress:
    """Where a kubelet listens."""

    host: str
    port: int


class AbsentError(Exception):
    """Addresses of this kind are not to be had here."""


class Prober(Protocol):
    """Probes hosts."""

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether a host answers there, in whatever way; None where it could not be asked.

        Raises `PermissionError` where this process may not ask it, and `AbsentError`.
        """


@dataclass(frozen=True, slots=True)
class TcpProber:
    """Opens a connection, and closes it at once. Waits for `timeout_seconds` at most."""

    timeout_seconds: float = PROBE_TIMEOUT_SECONDS

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether a host answers there, in whatever way; None where it could not be asked.

        Raises `PermissionError` where this process may not ask it, and `AbsentError`.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            writer = await self._opened(door)
        except TimeoutError as error:
            late = loop.time() - began > LATE_SHARE * self.timeout_seconds
            # The kernel's own ETIMEDOUT is a TimeoutError too.
            return None if late and error.errno is None else False
        except PermissionError:
            raise
        except OSError as error:
            if error.errno in ALIVE_ERRNOS:
                return True
            if error.errno in ABSENT_ERRNOS:
                raise AbsentError from error
            return False if error.errno in UNREACHABLE_ERRNOS else None
        except (ValueError, OverflowError, MemoryError, RuntimeError):
            # Names and ports that are none: the status of a node is whatever its kubelet wrote.
            # And no memory, or no thread that could look a name up.
            return None
        writer.close()
        return True

    async def _opened(self, door: KubeletAddress) -> asyncio.StreamWriter:
        """A connection to the kubelet. Raises `TimeoutError` where the host has not answered."""
        opening = asyncio.ensure_future(_connected(door))
        try:
            for seconds in (self.timeout_seconds, LATE_ANSWER_SECONDS):
                await asyncio.wait({opening}, timeout=seconds)
            if not opening.done():
                raise TimeoutError
            return opening.result()
        finally:
            opening.cancel()


async def _connected(door: KubeletAddress) -> asyncio.StreamWriter:
    """A connection there. Raises, of a host of several addresses, what says most of it."""
    try:
        return await _connected_to(door.host, door.port)
    except OSError as error:
        if error.errno is not None or isinstance(error, TimeoutError):
            raise
    # asyncio makes of the errors of several addresses one that has no number.
    loop, errors = asyncio.get_running_loop(), list[OSError]()
    for *_, address in await loop.getaddrinfo(door.host, door.port, type=socket.SOCK_STREAM):
        try:
            return await _connected_to(str(address[0]), door.port)
        except OSError as error:
            errors.append(error)
    raise min(errors, key=_doubt)


async def _connected_to(host: str, port: int) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_connection(host, port)
    return writer


def _doubt(error: OSError) -> int:
    """0 where it says that the host lives, 1 where it was not asked, 2 where it may be off.

    And 3 where it says nothing of the host.
    """
    known = (ALIVE_ERRNOS, frozenset[int](), UNREACHABLE_ERRNOS, ABSENT_ERRNOS)
    return next((doubt for doubt, some in enumerate(known) if error.errno in some), 1)


def kubelet_addresses(node: Body) -> list[KubeletAddress]:
    """Where the kubelet of a Node object listens: at each of these; none where it does not say."""
    status = node.get("status") or {}
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    port = endpoint.get("Port") or KUBELET_PORT
    for kind in ("InternalIP", "Hostname"):
        said = (one for one in status.get("addresses") or () if one.get("type") == kind)
        found = [one["address"] for one in said if one.get("address")]
        if found:
            return [KubeletAddress(one, port) for one in found[:MOST_ADDRESSES]]
    return []


class _Found(Enum):
    """What has come of a probe of one address."""

    ANSWERS = auto()
    SILENT = auto()
    FAILED = auto()
    DENIED = auto()
    ABSENT = auto()


_OF_ANSWERS = {True: _Found.ANSWERS, False: _Found.SILENT, None: _Found.FAILED}


class Probes:
    """The probes of one term, look after look: who has not answered how often in a row.

    `answering` are the suspects that have answered in the last look.
    """

    def __init__(self, prober: Prober) -> None:
        self.answering: frozenset[str] = frozenset()
        self._prober = prober
        self._failures: dict[str, int] = {}
        self._denied: set[str] = set()
        """Nodes that this process may not ask, or at no address that is to be had here, of those
        that were probed last."""
        self._in_part: set[str] = set()
        """Nodes that it may not ask at one address, and that are silent at another."""
        self._free = asyncio.Semaphore(PROBES_AT_ONCE)

    async def answers(
        self, nodes: Mapping[str, Body], suspects: Sequence[str], well: Sequence[str]
    ) -> dict[str, bool | None]:
        """Which suspects answer, by name; None where few hosts can be heard from here.

        A host counts as one that answers until it has kept silent `FAILURE_THRESHOLD` times in a
        row. One that could not be asked, for an error of our own, has not kept silent; where this
        process may ask none of the well ones either, none can be heard. Nor can one that it may not
        ask at one address, and that keeps silent at the others. Of `well` nodes, in the
        order of the fabric or of names, a few that stand far apart are probed where a suspect is
        silent.
        """
        answers = await self._probed(nodes, suspects)
        silent = {name for name, answer in answers.items() if answer is False} | self._in_part
        self.answering = frozenset(name for name, answer in answers.items() if answer)
        before = self._failures
        self._failures = {
            name: before[name] for name, answer in answers.items() if name in before and not answer
        }
        if not all(answers.values()):
            controls = await self._probed(nodes, _apart(well, CONTROL_NODES))
            asked = [answer for answer in controls.values() if answer is not None]
            if not any(asked) or sum(asked) < HEARD_SHARE * len(asked):
                failed = {name for name, answer in controls.items() if answer is None}
                is_deaf = bool(controls) and failed <= self._denied
                return {
                    n: None if is_deaf and not answer else True for n, answer in answers.items()
                }
        for name in silent:
            self._failures[name] = self._failures.get(name, 0) + 1
        return {
            name: self._failures.get(name, 0) < FAILURE_THRESHOLD or answer
            for name, answer in answers.items()
        }

    async def _probed(
        self, nodes: Mapping[str, Body], names: Iterable[str]
    ) -> dict[str, bool | None]:
        doors = {name: found for name in names if (found := kubelet_addresses(nodes[name]))}
        self._denied.clear()
        self._in_part.clear()
        answers = await together(self._probe(name, some) for name, some in doors.items())
        return dict(zip(doors, answers, strict=True))

    async def _probe(self, name: str, doors: Sequence[KubeletAddress]) -> bool | None:
        """Whether it answers at any of its addresses; None where one could not be asked.

        Where some are not to be had here, it goes by the others.
        """
        found = set(await together(self._ask(door) for door in doors)) - {_Found.ABSENT}
        if _Found.ANSWERS in found:
            return True
        if _Found.DENIED in found or not found:
            self._denied.add(name)
        if found == {_Found.SILENT, _Found.DENIED}:
            self._in_part.add(name)
        return False if found == {_Found.SILENT} else None

    async def _ask(self, door: KubeletAddress) -> _Found:
        async with self._free:
            try:
                return _OF_ANSWERS[await self._prober.answers(door)]
            except PermissionError:
                return _Found.DENIED
            except AbsentError:
                return _Found.ABSENT


def _apart(names: Sequence[str], most: int) -> list[str]:
    """At most so many of `names`, evenly spread: those side by side share a rack and its fate."""
    count = min(most, len(names))
    return [names[i * len(names) // count] for i in range(count)]
