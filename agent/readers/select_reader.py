"""Which reader a node needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from fourleaf.agent.pci import has_gpu
from fourleaf.agent.readers.amdsmi import AmdsmiReader
from fourleaf.agent.readers.from_file import FileReader
from fourleaf.agent.readers.nvml import NvmlReader
from fourleaf.agent.readings import DeviceReader, Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped


class SourceName(StrEnum):
    """Where devices are read from; auto: through whichever driver answers."""

    AUTO = "auto"
    NVML = "nvml"
    AMDSMI = "amdsmi"
    FILE = "file"


class AutoReader:
    """Reads through the first of some readers that finds devices, and stays with it.

    `present` tells whether the node has a GPU at all; on one without, no device is no fault.
    """

    def __init__(
        self, readers: Sequence[DeviceReader], present: Callable[[], bool] = has_gpu
    ) -> None:
        self._readers = tuple(readers)
        self._present = present
        self._chosen: DeviceReader | None = None

    def read(self) -> Reading:
        """The devices, or why no driver has any; see `DeviceReader.read`."""
        if self._chosen is not None:
            return self._chosen.read()
        said = []
        for reader in self._readers:
            reading = reader.read()
            if reading.gpus:
                self._chosen = reader
                return reading
            said.append(reading.fault.message if reading.fault else f"{reading.source}: none")
            reader.close()
        if not self._present():
            return Reading(SourceName.AUTO, expected=False)
        message = clipped(f"no driver has devices: {'; '.join(said)}")
        return Reading(SourceName.AUTO, fault=Fault("NoDevices", message))

    def close(self) -> None:
        """Close all readers."""
        for reader in self._readers:
            reader.close()


def reader_for(source: SourceName, file: Path | None = None) -> DeviceReader:
    """The reader of `source`; `file` is what `SourceName.FILE` reads."""
    made: dict[SourceName, Callable[[], DeviceReader]] = {
        SourceName.AUTO: lambda: AutoReader([NvmlReader(), AmdsmiReader()]),
        SourceName.NVML: NvmlReader,
        SourceName.AMDSMI: AmdsmiReader,
        SourceName.FILE: lambda: FileReader(file or Path()),
    }
    return made[source]()
