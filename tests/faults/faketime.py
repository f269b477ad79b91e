"""libfaketime of Debian: a clock that is off, or runs at another speed, for one process."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.controlplane.build import cache_folder

LIBRARY = "libfaketimeMT.so.1"
"""The one for programs with threads."""

INSTALLED = Path("/usr/lib")
FETCH = 60.0
"""Seconds that a download may take."""


class Unavailable(RuntimeError):
    """The library can neither be found nor fetched."""


def why_not() -> str:
    """Why clocks cannot be faked here, "" where they can."""
    try:
        library()
    except Unavailable as error:
        return str(error)
    return ""


@cache
def library() -> Path:
    """The library, as installed, or unpacked from Debian's package. Raises `Unavailable`."""
    kept = cache_folder().parent / "libfaketime"
    found = _in(INSTALLED) or _in(kept)
    if found is None:
        _fetch(kept)
        found = _in(kept)
    if found is None:
        raise Unavailable(f"libfaketime: the package of Debian has no {LIBRARY}")
    return found


def apart(seconds: int) -> list[str]:
    """A prefix for a command whose wall clock is off by so many seconds."""
    # What only measures time must run on undisturbed: no clock jumps in that sense.
    return [*_preloaded(f"{seconds:+d}"), "FAKETIME_DONT_FAKE_MONOTONIC=1"]


def speed(factor: float) -> list[str]:
    """A prefix for a command all of whose clocks run `factor` times as fast."""
    return _preloaded(f"+0 x{factor:g}")


def _preloaded(time: str) -> list[str]:
    return ["env", f"LD_PRELOAD={library()}", f"FAKETIME={time}"]


def _in(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob(f"**/faketime/{LIBRARY}"))), None)


def _fetch(folder: Path) -> None:
    tools = ("apt-get", "dpkg")
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"libfaketime is not installed, and there is no {missing[0]} to fetch it")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _run(["apt-get", "download", "libfaketime"], folder)
        for package in folder.glob("libfaketime_*.deb"):
            _run(["dpkg", "-x", package.name, "."], folder)
    except (subprocess.SubprocessError, OSError) as error:
        raise Unavailable(f"libfaketime is not installed, and was not fetched: {error}") from error


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=FETCH)
