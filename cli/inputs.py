"""From the options of a verb to a snapshot."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from model.readers import Reading, Source
    from model.snapshot import Snapshot


def moment(text: str | None) -> float | None:
    """Seconds since the epoch for an RFC 3339 time; a usage error where it is none."""
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise typer.BadParameter(
            f"'{text}' is not an RFC 3339 time such as 2025-11-21T06:00:00Z", param_hint="--now"
        )
    return when.timestamp()


def open_files(files: Sequence[str]) -> list[Source]:
    """The sources that `files` name, standard input included."""
    from model.readers import open_paths

    return open_paths(files, sys.stdin.buffer)


def read_files(files: Sequence[str], now: float | None = None) -> Reading:
    """Everything that `files` hold. Raises `BadInput`."""
    from model.readers import read

    return read(open_files(files), now)


def need_nodes(snapshot: Snapshot, files: Sequence[str]) -> None:
    """Raise `BadInput` where there is nothing to plan on, as when only a Job was given."""
    if snapshot.fabric.leaves:
        return
    from model.problems import BadInput, Problem, Severity

    raise BadInput(
        [
            Problem(
                Severity.ERROR,
                ", ".join(files),
                "Node",
                "",
                "",
                "the input holds no node to plan on",
                "Add them: kubectl get nodes,pods -A -o json > now.json, then -f now.json.",
            )
        ]
    )
