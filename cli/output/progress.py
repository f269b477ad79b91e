"""Progress: what the solver does, told only to a person who has already waited for a moment."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from fourleaf.cli.output.console import err

if TYPE_CHECKING:
    from rich.status import Status

    from fourleaf.model.plan import Stage

DELAY_SECONDS = 0.5
"""Seconds before anything is shown: quick solves show nothing."""


class Progress:
    """A spinner on standard error while its block runs, where that is a terminal."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._console = err()
        self._status: Status | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(DELAY_SECONDS, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._timer.cancel()
            if self._status is not None:
                self._status.stop()
            self._timer.finished.set()

    def _show(self) -> None:
        with self._lock:
            if not self._timer.finished.is_set():
                self._status = self._console.status(self._text)
                self._status.start()

    def stage(self, stage: Stage) -> None:
        """Take note of a finished stage."""
        proof = "proven" if stage.proven else "not proven"
        with self._lock:
            self._text = f"{stage.name} {proof} after {stage.seconds:.1f} s; next stage"
            if self._status is not None:
                self._status.update(self._text)
