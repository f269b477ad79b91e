"""The queue as a list, and ages as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

TITLES = ("gang", "priority", "pods", "GPUs", "age", "reason")


def queue_lines(
    entries: Sequence[Mapping[str, Any]], now: float, wide: bool = False
) -> Iterator[RenderableType]:
    """A row per gang and why it waits; `wide` adds what would unblock it. `now` gives the ages."""
    if not entries:
        yield Text("no gang waits")
        return
    rows = [TITLES, *(_row(one, now) for one in entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, entry in zip(rows, (None, *entries), strict=True):
        name, *numbers, reason = row
        cells = [name.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
        line = Text("  ".join(cells), style="default" if entry else "dim")
        line.append(f"  {reason}", style="yellow" if entry else "dim")
        yield line
        if entry:
            yield Padding(Text(entry["message"]), (0, 0, 0, 2))
            if wide:
                for step in entry["unblock"]:
                    yield Padding(Text(f"unblock: {step}", style="green"), (0, 0, 0, 2))


def _row(entry: Mapping[str, Any], now: float) -> tuple[str, ...]:
    return (
        f"{entry['namespace']}/{entry['name']}",
        str(entry["priority"]),
        str(entry["pods"]),
        str(entry["gpus"]),
        age(now - entry["since"]),
        entry["reason"] or "?",
    )


def age(seconds: float) -> str:
    """`42s`, `7m`, `3h12m` or `5d`, as kubectl writes ages."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole}s"
    if whole < 7200:
        return f"{whole // 60}m"
    if whole < 48 * 3600:
        return f"{whole // 3600}h{whole % 3600 // 60}m"
    return f"{whole // 86400}d"
