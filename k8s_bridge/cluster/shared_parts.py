"""Equal parts of objects as one object; what is remembered of them is bounded by its length.

A bound on their number would let a tenant choose how much that is: of 512 characters each, 30,000
parts of pods that are gone take 150 MiB.
"""

from __future__ import annotations

from typing import Any

import orjson

MOST_CHARACTERS = 2**22
"""JSON of all that is remembered: more than a cluster has of such parts, in some 40 MiB."""
LONGEST_PART = 8 * 1024
"""JSON of the longest part that is remembered at all."""


class SharedParts:
    """Remembers parts by their JSON, those that were met lately.

    Two generations stand in for an order: half of `most` characters later, what has not been met
    again is forgotten.
    """

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._half = most // 2
        self._characters = 0
        self._young: dict[str, Any] = {}
        self._old: dict[str, Any] = {}

    def of(self, part: Any) -> Any:
        """`part`, or an equal one that was met before; never to be changed."""
        # as text, because the bytes that orjson makes keep a buffer of 1 KiB
        try:
            text = orjson.dumps(part).decode()
        except orjson.JSONEncodeError:
            return part
        if len(text) > LONGEST_PART:
            return part
        known = self._young.get(text)
        return self._remembered(text) if known is None else known

    def cache_clear(self) -> None:
        """Forget all of them, as functions that remember do."""
        self._characters, self._young, self._old = 0, {}, {}

    def _remembered(self, text: str) -> Any:
        known = self._old.pop(text, None)
        if known is None:
            # a copy: nothing that the caller does later changes it
            known = orjson.loads(text)
        self._characters += len(text)
        if self._characters > self._half:
            self._characters, self._old, self._young = len(text), self._young, {}
        self._young[text] = known
        return known
