"""The queue as a list, and ages as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from fourleaf.cli.render.layout import CUT, indented, shortened
from fourleaf.model.reasons.text import listed

ROW_WIDTH = 120
"""Characters of a row, at most."""
NEWS_WIDTH = 34
"""Characters that names leave for what would let a gang start: `it starts when` and who ends."""
LEAST_NAME_WIDTH = 12
GAP = "  "
TITLES = ("gang", "priority", "pods", "GPUs", "age", "reason")


def queue_lines(
    entries: Sequence[Mapping[str, Any]], now: float, wide: bool = False
) -> Iterator[RenderableType]:
    """A row per gang, with what would let it start, else why it waits; `now` gives the ages.

    `wide` adds lines with all of it, and has names whole; else those of gangs are cut in their
    middle where a row would be too long. Where the entries have starts, these get a column.
    """
    if not entries:
        yield Text("no gang waits")
        return
    titles = [*TITLES[:-1], "start", TITLES[-1]] if "start" in entries[0] else TITLES
    rows = [tuple(titles), *(_row(one, now) for one in entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if not wide:
        others = sum(widths[1:]) + len(GAP) * len(widths)
        news = min(NEWS_WIDTH, max(len(_news(one)) for one in entries))
        widths[0] = min(widths[0], max(LEAST_NAME_WIDTH, ROW_WIDTH - news - others))
    for row, entry in zip(rows, (None, *entries), strict=True):
        name, *numbers, reason = row
        cells = [shortened(name, widths[0]).ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
        style = "default" if entry else "dim"
        line = Text(GAP.join(cells), style, no_wrap=True)
        line.append(f"{GAP}{reason}", style="yellow" if entry else "dim")
        if entry and not wide:
            line.append(GAP + _fitting(_news(entry), ROW_WIDTH - len(GAP) - len(line)))
        yield line
        if entry and wide:
            for step in entry["unblock"]:
                yield indented(Text(f"unblock: {step}", style="green"))
            yield indented(Text(entry["message"]))
            why = _why_unknown(entry["start"]) if "start" in entry else ""
            if why:
                yield indented(Text(f"start unknown: {why}", style="yellow"))


def _news(entry: Mapping[str, Any]) -> str:
    """What would let a gang start, where that is known; else what its start depends on, or why."""
    if entry["unblock"]:
        return str(entry["unblock"][0])
    why = _why_unknown(entry["start"]) if "start" in entry else ""
    return why or str(entry["message"])


def _fitting(text: str, width: int) -> str:
    """As many words of `text` as fit; of a long name that does not, both ends."""
    if len(text) <= width:
        return text
    room = max(0, width - len(f" {CUT}"))
    words = text[: room + 1].rpartition(" ")[0]
    name = text[len(words) :].lstrip().partition(" ")[0]
    left = room - len(f"{words} ")
    if left >= LEAST_NAME_WIDTH and len(name) > left:
        words = f"{words} {shortened(name, left)}".lstrip()
    return f"{words} {CUT}" if words else ""


def _row(entry: Mapping[str, Any], now: float) -> tuple[str, ...]:
    return (
        f"{entry['namespace']}/{entry['name']}",
        str(entry["priority"]),
        str(entry["pods"]),
        str(entry["gpus"]),
        age(now - entry["since"]),
        *([start_text(entry["start"])] if "start" in entry else []),
        entry["reason"] or "?",
    )


def start_text(start: Mapping[str, Any]) -> str:
    """`now`, `in 25 min`, `in 3 h 10 min`, `in 2 d 4 h`, or `unknown`."""
    seconds = start["seconds"]
    if seconds is None:
        return "unknown"
    if seconds <= 0:
        return "now"
    minutes = -(-seconds // 60)
    if minutes < 60:
        return f"in {minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"in {hours} h" + (f" {minutes} min" if minutes else "")
    days, hours = divmod(hours, 24)
    return f"in {days} d" + (f" {hours} h" if hours else "")


def _why_unknown(start: Mapping[str, Any]) -> str:
    """What the start of a gang depends on that cannot be foreseen; "" where it is known."""
    if start["seconds"] is not None or start["held"]:
        return ""
    names = start["waitsFor"]
    if names:
        return f"waits for gangs without a stated end: {listed(names)}"
    if not start["proven"]:
        return "the time ran out before a place was found"
    return "it would find no place even if all other gangs ended"


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
