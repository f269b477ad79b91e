"""Readings by a driver that may hang."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

from agent.reading import DeviceReader, Fault, Reading

PATIENCE = 30.0
"""Seconds that a reading may take; eight devices take a fraction of one."""


class PatientReader:
    """Reads in a thread and waits for it no longer than `patience` seconds.

    A driver that hangs is not called again before it has answered. Its thread does not keep the
    process from ending.
    """

    def __init__(self, reader: DeviceReader, patience: float = PATIENCE) -> None:
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
            return replace(
                Reading(self._last.source or "unknown"), fault=Fault("DriverHangs", message)
            )
        self._pending = None
        self._last = done.pop().result()
        return self._last

    def close(self) -> None:
        """Close the reader, unless its driver hangs."""
        if self._pending is None:
            self._reader.close()

    def _begin(self) -> asyncio.Future[Reading]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reading] = loop.create_future()

        def settle(reading: Reading | None, error: BaseException | None) -> None:
            if answer.cancelled():
                return
            if error is not None:
                answer.set_exception(error)
            elif reading is not None:
                answer.set_result(reading)

        def work() -> None:
            reading, wrong = None, None
            try:
                reading = self._reader.read()
            except Exception as error:  # noqa: BLE001 - it is raised again where it is awaited
                wrong = error
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, reading, wrong)

        threading.Thread(target=work, name="devices", daemon=True).start()
        return answer
