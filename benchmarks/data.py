"""Whether the public traces and fabrics that a benchmark replays are there."""

from __future__ import annotations

from benchmarks.results import write_tables
from fourleaf.simulator.readers.folder import available

NO_DATA = "skipped: no data, set TOPOLOGY_DATA_DIR."


def lacking(files: tuple[str, ...], name: str, title: str, write: bool) -> bool:
    """Whether any of `files` is not there; says so, on its page of tables too where `write`."""
    if available(*files):
        return False
    print(NO_DATA)
    if write:
        write_tables(name, title, NO_DATA)
    return True
