"""What the requests share: the settings in force, and whether to come here at all."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.webhook.settings import Settings


@dataclass(slots=True)
class State:
    """The state of one process.

    `settings` is replaced as a whole. `lacking` names what has yet to be known before reviews
    can be answered; `stale` what is no longer known well enough to stay in service.
    """

    settings: Settings = field(default_factory=Settings)
    lacking: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    draining: bool = False

    @property
    def ready(self) -> bool:
        """Whether new clients should come."""
        return not (self.draining or self.lacking or self.stale)
