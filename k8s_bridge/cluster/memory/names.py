"""What the store makes up: UIDs, generated names, times."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime

from fourleaf.k8s_bridge.runtime.clock import Clock

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class NameGenerator:
    """UIDs and suffixes that a seed determines, and the time of day."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - to be told apart, not to be kept secret

    def uid(self) -> str:
        """A UID that nothing had before."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def suffix(self) -> str:
        """Five characters to follow `generateName`."""
        return "".join(self._random.choices(_ALPHABET, k=5))

    def now(self) -> str:
        """The time, in whole seconds, as the API writes it."""
        moment = datetime.fromtimestamp(int(self._clock.wall()), UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
