"""Drivers that hang."""

from __future__ import annotations

import asyncio
import threading

from fourleaf.agent.readings import Reading
from fourleaf.agent.timed_reader import PatientReader
from tests.agent.made import reading


class Hanging:
    """A reader that waits until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.reads = 0
        self.closed = False

    def read(self) -> Reading:
        """Hang."""
        self.reads += 1
        self.go.wait()
        return reading()

    def close(self) -> None:
        """Take note."""
        self.closed = True


async def test_a_driver_that_answers() -> None:
    """Its answer is the reading, and it is closed at the end."""
    reader = Hanging()
    reader.go.set()
    patient = PatientReader(reader)
    assert await patient.read() == reading()
    patient.close()
    assert reader.closed


async def test_a_driver_that_hangs() -> None:
    """A fault says so, nobody asks it a second time, and its answer counts when it comes."""
    reader = Hanging()
    patient = PatientReader(reader, patience=0.01)
    for _ in range(3):
        found = await patient.read()
        assert found.fault is not None
        assert found.fault.reason == "DriverHangs"
    patient.close()
    assert (reader.reads, reader.closed) == (1, False)
    reader.go.set()
    while (found := await patient.read()).fault is not None:
        await asyncio.sleep(0.01)
    assert found == reading()


async def test_a_reader_that_breaks() -> None:
    """What should not be raised is a fault, and no end of the agent."""

    class Broken(Hanging):
        def read(self) -> Reading:
            raise RuntimeError("a bug")

    found = await PatientReader(Broken()).read()
    assert found.fault is not None
    assert found.fault.reason == "ReaderFailed"
    assert found.fault.message == "the devices cannot be read: RuntimeError: a bug"
