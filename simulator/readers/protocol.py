"""What a reader of traces offers."""

from __future__ import annotations

from typing import Protocol

from fourleaf.simulator.trace import Trace


class TraceReader(Protocol):
    """One public trace."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it reads."""

    def read(self) -> Trace:
        """The whole trace. Raises `NoData` where a file is not there."""
