"""Readings by what may hang: a driver, a file of a host, a service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

import structlog

from fourleaf.agent.readings import DeviceReader, Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.k8s_bridge.runtime.concurrency import in_thread

UNKNOWN = "unknown"
READING_SECONDS = 30.0
"""Seconds that a reading may take; eight devices take a fraction of one."""

_Answer = TypeVar("_Answer")


class TimedCall(Generic[_Answer]):
    """Calls `work`, which raises nothing, in a thread and waits no longer than `patience` seconds.

    Work that hangs is not called again before it has answered. Its thread does not keep the process
    from ending.
    """

    def __init__(self, work: Callable[[], _Answer], patience: float) -> None:
        self._work = work
        self._patience = patience
        self._pending: asyncio.Future[_Answer] | None = None

    @property
    def hangs(self) -> bool:
        """Whether an answer is awaited."""
        return self._pending is not None

    async def answer(self, otherwise: _Answer) -> _Answer:
        """What the work gives, `otherwise` where it does not in time."""
        if self._pending is None:
            self._pending = in_thread(self._work, "devices")
        done, _ = await asyncio.wait({self._pending}, timeout=self._patience)
        if not done:
            return otherwise
        self._pending = None
        return done.pop().result()


class PatientReader:
    """Reads devices by a `TimedCall`. What the reader raises becomes a fault."""

    def __init__(self, reader: DeviceReader, patience: float = READING_SECONDS) -> None:
        self._reader = reader
        self._patience = patience
        self._call = TimedCall(self._attempt, patience)
        self._last = Reading("")

    async def read(self) -> Reading:
        """The devices, or a fault where the driver does not answer in time."""
        message = f"the driver has not answered within {self._patience:g} s; reboot the node"
        source = self._last.source or UNKNOWN
        found = await self._call.answer(Reading(source, fault=Fault("DriverHangs", message)))
        if not self._call.hangs:
            self._last = found
        return found

    def close(self) -> None:
        """Close the reader, unless its driver hangs."""
        if not self._call.hangs:
            self._reader.close()

    def _attempt(self) -> Reading:
        try:
            return self._reader.read()
        except Exception as error:  # noqa: BLE001 - no answer of a device takes the agent down
            structlog.get_logger(__name__).exception("reader_failed")
            said = f"the devices cannot be read: {type(error).__name__}: {error}"
            message = clipped(" ".join(said.split()))
            return Reading(self._last.source or UNKNOWN, fault=Fault("ReaderFailed", message))
