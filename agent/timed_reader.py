"""Readings by a driver that may hang."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import structlog

from fourleaf.agent.readings import DeviceReader, Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped

UNKNOWN = "unknown"
READING_SECONDS = 30.0
"""Seconds that a reading may take; eight devices take a fraction of one."""


class PatientReader:
    """Reads in a thread and waits for it no longer than `patience` seconds.

    A driver that hangs is not called again before it has answered. Its thread does not keep the
    process from ending. What the reader raises becomes a fault.
    """

    def __init__(self, reader: DeviceReader, patience: float = READING_SECONDS) -> None:
        self._reader = reader
        self._patience = patience
        self._pending: asyncio.Future[Reading] | None = None
        self._last = Reading("")

    async def read(self) -> Reading:
        """The devices, or a fault where the driver does not answer in time."""
        if self._pending is None:
            self._pending = self._begin()
        done, _ = await asyncio.wait({self._pending}, timeout=self._patience)
        if not done:
            message = f"the driver has not answered within {self._patience:g} s; reboot the node"
            return Reading(self._last.source or UNKNOWN, fault=Fault("DriverHangs", message))
        self._pending = None
        self._last = done.pop().result()
        return self._last

    def close(self) -> None:
        """Close the reader, unless its driver hangs."""
        if self._pending is None:
            self._reader.close()

    def _attempt(self) -> Reading:
        try:
            return self._reader.read()
        except Exception as error:  # noqa: BLE001 - no answer of a device takes the agent down
            structlog.get_logger(__name__).exception("reader_failed")
            said = f"the devices cannot be read: {type(error).__name__}: {error}"
            message = clipped(" ".join(said.split()))
            return Reading(self._last.source or UNKNOWN, fault=Fault("ReaderFailed", message))

    def _begin(self) -> asyncio.Future[Reading]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reading] = loop.create_future()

        def settle(reading: Reading) -> None:
            if not answer.done():
                answer.set_result(reading)

        def work() -> None:
            reading = self._attempt()
            # The process may be ending, and this is not waited for any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, reading)

        threading.Thread(target=work, name="devices", daemon=True).start()
        return answer
