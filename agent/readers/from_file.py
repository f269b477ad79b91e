"""Devices from a file: for machines without any, for tests, and where no driver can be asked.

The file holds what `fourleaf agent --once -o yaml` prints, or only the status of that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fourleaf.agent.readings import Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped, complaint
from fourleaf.model.crds.node_status import FORMAT, NodeDevices
from fourleaf.model.problems import Problem, Severity, shown
from fourleaf.model.readers.text.json import BadText
from fourleaf.model.readers.text.sources import documents, fault, open_paths

SOURCE = "file"
KIND = "GpuNodeStatus"
_OURS = ("format", "source", "driverVersion", "gpus", "links", "processes", "topology")
_MOST_PROBLEMS = 3
"""Problems that a condition has room for."""


class FileReader:
    """Reads `path` anew whenever it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._reading = Reading(SOURCE)

    def read(self) -> Reading:
        """What the file says; see `DeviceReader.read`. With a fault where it says nothing."""
        stamp = _stamp(self._path)
        if stamp is None or stamp != self._stamp:
            self._stamp, self._reading = stamp, reading_of(self._path)
        return self._reading

    def close(self) -> None:
        """Give back nothing: the file is not kept open."""


def reading_of(path: Path) -> Reading:
    """The inventory in `path`, or a fault that names file, field and value, and gives advice."""
    (source,) = open_paths([path])
    if source.problem is not None:
        return _failed([source.problem])
    try:
        found = documents(source)
    except BadText as bad:
        return _failed([fault(source.name, str(bad), bad.advice)])
    if len(found) != 1:
        advice = "Give one inventory for one node."
        return _failed([fault(source.name, f"holds {len(found)} documents", advice)])
    return _read(source.name, found[0])


def _read(name: str, document: Any) -> Reading:
    at = ""
    if isinstance(document, dict) and document.get("kind") == KIND:
        document, at = document.get("status"), "status."
    if not isinstance(document, dict):
        return _failed([fault(name, "is no inventory", f"Give a {KIND}, or the status of one.")])
    newest = document.get("format", FORMAT)
    if isinstance(newest, int) and newest > FORMAT:
        message = f"is an inventory of a later format than {FORMAT}, which this version reads"
        advice = f"Write it in format {FORMAT}, or update fourleaf."
        wrong = Problem(Severity.ERROR, name, "", f"{at}format", shown(newest), message, advice)
        return _failed([wrong], "UnknownFormat")
    try:
        # What the publisher knows better than a file is left out.
        parts = {key: value for key, value in document.items() if key not in _PUBLISHED}
        devices = NodeDevices.model_validate(parts, strict=True)
    except ValidationError as error:
        return _failed([_problem(name, at, one) for one in error.errors()])
    return Reading(
        SOURCE,
        devices.driver_version,
        tuple(devices.gpus),
        tuple(devices.links),
        tuple(devices.processes),
        topology=devices.topology,
    )


_PUBLISHED = ("conditions", "nodeUID", "bootID")


def _problem(name: str, at: str, error: Any) -> Problem:
    steps = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]]
    field = at + "".join(steps).lstrip(".")
    if error["type"] == "extra_forbidden":
        advice = f"Leave it out; known are {', '.join(_OURS)} and their parts."
        return Problem(Severity.ERROR, name, "", field, "", "is not known", advice)
    value = "" if error["type"] == "missing" else shown(error["input"])
    message = error["msg"][0].lower() + error["msg"][1:]
    advice = "Correct it; kubectl explain gns.status says what it takes."
    return Problem(Severity.ERROR, name, "", field, value, message, advice)


def _failed(problems: list[Problem], reason: str = "InvalidInventory") -> Reading:
    told = [f"{problem.source}: {complaint(problem)}" for problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        told.append(f"and {len(problems) - _MOST_PROBLEMS} more")
    return Reading(SOURCE, fault=Fault(reason, clipped("; ".join(told))))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
