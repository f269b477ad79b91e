"""What happened on each node: who held how many of its GPUs when, and when it was out of order."""

from __future__ import annotations

from dataclasses import dataclass

OPEN = -1
"""The end of what has not ended."""


@dataclass(slots=True)
class Stretch:
    """`gpus` GPUs of `node` from `start` to `end`, in seconds; held by `pod`, "" for an outage."""

    node: str
    gpus: int
    start: int
    pod: str = ""
    end: int = OPEN


class Journal:
    """Every stretch of one replay, in the order in which they began."""

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []
        self._open: dict[tuple[str, str], Stretch] = {}

    def begin(self, node: str, gpus: int, now: int, pod: str = "") -> None:
        """Write down that `pod` comes to `node`, or that the node fails."""
        stretch = Stretch(node, gpus, now, pod)
        self.stretches.append(stretch)
        self._open[node, pod] = stretch

    def finish(self, node: str, now: int, pod: str = "") -> None:
        """Write down that it has gone, or that the node works again."""
        self._open.pop((node, pod)).end = now

    def close(self, now: int) -> None:
        """End everything that is open."""
        for stretch in self._open.values():
            stretch.end = now
        self._open.clear()
