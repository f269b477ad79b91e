"""Gangs that wait: why, what comes nearest, and what would let them start."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fourleaf.model.plan import Waiting
from fourleaf.model.reasons.text import cause, nearest


def waiting_lines(waiting: Sequence[Waiting]) -> list[RenderableType]:
    """A paragraph per gang."""
    lines: list[RenderableType] = []
    for entry in waiting:
        head = Text(str(entry.gang), style="bold")
        head.append(f"  {entry.reason.kind.value}", style="not bold yellow")
        lines.append(head)
        lines.append(Padding(Text(cause(entry.reason)), (0, 0, 0, 2)))
        near = nearest(entry.reason)
        if near:
            lines.append(Padding(Text(f"nearest: {near}"), (0, 0, 0, 2)))
        lines.extend(
            Padding(Text(f"unblock: {step}", style="green"), (0, 0, 0, 2))
            for step in entry.reason.unblock
        )
    return lines
