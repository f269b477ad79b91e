"""Which driver is asked."""

from __future__ import annotations

from pathlib import Path

from fourleaf.agent.inventory_consistency import examined
from fourleaf.agent.readers.from_file import FileReader
from fourleaf.agent.readers.nvml import NvmlReader
from fourleaf.agent.readers.select_reader import AutoReader, SourceName, reader_for
from fourleaf.agent.readings import Reading
from tests.agent.made import failure, reading


class Scripted:
    """A reader with a script."""

    def __init__(self, *readings: Reading) -> None:
        self.readings = list(readings)
        self.reads = 0
        self.open = False

    def read(self) -> Reading:
        """The next of the script; the last one for ever."""
        self.reads += 1
        self.open = True
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]

    def close(self) -> None:
        """Take note."""
        self.open = False


def test_the_first_driver_with_devices_is_kept() -> None:
    """Without devices anywhere all are asked again; once one has some, it alone."""
    one = Scripted(failure())
    other = Scripted(Reading("amdsmi"), reading(), failure())
    auto = AutoReader([one, other], present=lambda: True)
    first = auto.read()
    assert first.fault is not None
    assert first.fault.reason == "NoDevices"
    assert first.fault.message == "no driver has devices: the driver is gone; amdsmi: none"
    assert [one.open, other.open] == [False, False]
    assert len(auto.read().gpus) == 2
    assert [one.open, other.open] == [False, True]
    assert auto.read().fault == failure().fault
    assert (one.reads, other.reads) == (2, 3)


def test_a_node_without_gpus_lacks_none() -> None:
    """No driver answers there, and the inventory of nothing can be relied on."""
    auto = AutoReader([Scripted(failure())], present=lambda: False)
    found = examined(auto.read())
    assert (found.reading.gpus, found.faults) == ((), ())


def test_sources_by_name() -> None:
    """Each name has its reader."""
    assert isinstance(reader_for(SourceName.FILE, Path("x")), FileReader)
    assert isinstance(reader_for(SourceName.NVML), NvmlReader)
    assert isinstance(reader_for(SourceName.AUTO), AutoReader)
