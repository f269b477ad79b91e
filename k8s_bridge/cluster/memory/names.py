"""Names that the store makes up: UIDs, and what follows `generateName`."""

from __future__ import annotations

import random
import uuid

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class NameGenerator:
    """UIDs and suffixes that a seed determines."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - to be told apart, not to be kept secret

    def uid(self) -> str:
        """A UID that nothing had before."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def suffix(self) -> str:
        """Five characters to follow `generateName`."""
        return "".join(self._random.choices(_ALPHABET, k=5))
