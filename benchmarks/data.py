"""Whether the public traces and fabrics that a benchmark replays are there."""

from __future__ import annotations

from benchmarks.results import write_section
from fourleaf.simulator.readers.folder import available

NO_DATA = "skipped: no data, set TOPOLOGY_DATA_DIR."


def lacking(files: tuple[str, ...], section: str, title: str, write: bool) -> bool:
    """Whether any of `files` is not there; says so, in RESULTS.md too where `write`."""
    if available(*files):
        return False
    print(NO_DATA)
    if write:
        write_section(section, title, NO_DATA)
    return True
