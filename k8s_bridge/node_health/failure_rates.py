"""How often nodes and leaves have failed, each failure counting half after a half-life.

And which nodes are lost, so that the next leader counts none of these failures again.

`failure_permille` of a node is 1000 * (1 - 2^-s), s being its own score plus half that of its
leaf: one failure just now makes 500, two 750, and after one half-life one makes 292.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

SCORE_FLOOR = 0.01
"""Scores below are forgotten."""

MOST_FAILURES = 1e6
"""A kept score beyond is nonsense: no node fails so often."""

LEAF_SHARE = 0.5
"""How much a failure of its leaf counts for a node."""


@dataclass(frozen=True, slots=True)
class FailureScore:
    """A decayed number of failures as of `at`, in seconds since the epoch."""

    value: float
    at: float

    def by(self, now: float, half_life: float) -> float:
        """What is left of it at `now`; half-life in seconds."""
        return self.value * math.exp2(-max(0.0, now - self.at) / half_life)


@dataclass(slots=True, eq=False)
class FailureRates:
    """Scores of nodes and of leaves. `half_life` in seconds; all times since the epoch.

    `lost` are nodes that have failed and have not been well since.
    """

    half_life: float
    nodes: dict[str, FailureScore] = field(default_factory=dict)
    leaves: dict[str, FailureScore] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()

    def failed(self, nodes: Iterable[str], leaves: Iterable[str], now: float) -> None:
        """These nodes, and these leaves as a whole, have failed."""
        for names, scores in ((nodes, self.nodes), (leaves, self.leaves)):
            for name in names:
                scores[name] = FailureScore(self._left(scores, name, now) + 1.0, now)
            # Nodes come and go under new names for as long as there is a leader.
            for name in [one for one in scores if self._left(scores, one, now) < SCORE_FLOOR]:
                del scores[name]

    def permille(self, node: str, leaf: str, now: float) -> int:
        """`failure_permille` of a node."""
        own, shared = self._left(self.nodes, node, now), self._left(self.leaves, leaf, now)
        return round(1000 * (1 - math.exp2(-(own + LEAF_SHARE * shared))))

    def content(self, now: float) -> dict[str, Any]:
        """All that is worth keeping, for `read`."""
        # In the same form as scores, or an older version could read none of it.
        return {"lost": dict.fromkeys(sorted(self.lost), (1, 0))} | {
            name: {
                one: [round(score.value, 3), round(score.at)]
                for one, score in sorted(scores.items())
                if score.by(now, self.half_life) >= SCORE_FLOOR
            }
            for name, scores in (("nodes", self.nodes), ("leaves", self.leaves))
        }

    def read(self, text: str) -> bool:
        """Add what was kept; False, and nothing is added, where the text makes no sense."""
        try:
            found = _KEPT.validate_json(text)
        except ValidationError:
            return False
        rows = [row for scores in found.values() for row in scores.values()]
        if not all(0 <= value <= MOST_FAILURES and math.isfinite(at) for value, at in rows):
            return False
        for name, scores in (("nodes", self.nodes), ("leaves", self.leaves)):
            for one, (value, at) in found.get(name, {}).items():
                now = max(at, scores[one].at) if one in scores else at
                kept = FailureScore(value, at).by(now, self.half_life)
                scores[one] = FailureScore(kept + self._left(scores, one, now), now)
        self.lost = frozenset(found.get("lost", ()))
        return True

    def _left(self, scores: MutableMapping[str, FailureScore], name: str, now: float) -> float:
        score = scores.get(name)
        if score is None:
            return 0.0
        if score.at > now:
            # The clock was wrong, and has been set right: it would not decay until then.
            scores[name] = score = FailureScore(score.value, now)
        return score.by(now, self.half_life)


_KEPT = TypeAdapter(dict[str, dict[str, tuple[float, float]]])
