"""What a law is."""

from __future__ import annotations

from typing import Protocol

from tests.history.history import History


class Law(Protocol):
    """Something that must hold in every history."""

    @property
    def name(self) -> str:
        """What a verdict calls it."""
        ...

    def breaches(self, history: History) -> list[str]:
        """Where it is broken, a sentence each; none where it holds."""
        ...
