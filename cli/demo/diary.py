"""What has happened, in the words of the demo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fourleaf.k8s_bridge.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that happened, `at` seconds after the start. `word` says what kind of thing."""

    at: float
    word: str
    text: str
    more: tuple[str, ...] = ()


class Diary:
    """All notes, oldest first. `read_out` hears of each at once."""

    def __init__(self, clock: Clock, read_out: Callable[[Note], None]) -> None:
        self.notes: list[Note] = []
        self._clock = clock
        self._began = clock.monotonic()
        self._read_out = read_out

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return self._clock.monotonic() - self._began

    def note(self, word: str, text: str, *more: str) -> None:
        """Write down what happens now."""
        note = Note(self.now, word, text, more)
        self.notes.append(note)
        self._read_out(note)
