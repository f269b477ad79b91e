"""Gangs that wait: what would let them start, why, and what comes nearest."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from fourleaf.cli.render.layout import indented
from fourleaf.model.plan import Waiting
from fourleaf.model.reasons.text import cause, nearest, steps


def waiting_lines(waiting: Sequence[Waiting]) -> list[RenderableType]:
    """A paragraph per gang."""
    lines: list[RenderableType] = []
    for entry in waiting:
        head = Text(str(entry.gang), style="bold")
        head.append(f"  {entry.reason.kind.value}", style="not bold yellow")
        lines.append(head)
        lines += [indented(Text(f"unblock: {step}", style="green")) for step in steps(entry.reason)]
        lines.append(indented(Text(cause(entry.reason))))
        near = nearest(entry.reason)
        if near:
            lines.append(indented(Text(f"nearest: {near}")))
    return lines
