"""How often nodes and leaves have failed, each failure counting half after a half-life.

And which nodes are lost, so that the next leader counts none of these failures again.

`failure_permille` of a node is 1000 * (1 - 2^-s), s being its own score plus half that of its
leaf: one failure just now makes 500, two 750, and after one half-life one makes 292.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

SCORE_FLOOR = 0.01
"""Scores below are forgotten."""

MOST_FAILURES = 1e6
"""A kept score beyond is nonsense: no node fails so often."""

LAST_MOMENT = 2.0**53
"""A kept time beyond, before or after the epoch, is nonsense: JSON cannot say it again."""

HIGHEST_SCORE = 10.0
"""More says nothing more of the next days, and takes ever more half-lives to fade."""

MOST_KEPT_BYTES = 60_000
"""Of each list that is kept, about. A Lease takes 256 KiB of annotations."""

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
                score = self._left(scores, name, now) + 1.0
                scores[name] = FailureScore(min(score, HIGHEST_SCORE), now)
            # Nodes come and go under new names for as long as there is a leader.
            for name in [one for one in scores if self._left(scores, one, now) < SCORE_FLOOR]:
                del scores[name]

    def permille(self, node: str, leaf: str, now: float) -> int:
        """`failure_permille` of a node."""
        own, shared = self._left(self.nodes, node, now), self._left(self.leaves, leaf, now)
        return round(1000 * (1 - math.exp2(-(own + LEAF_SHARE * shared))))

    def content(self, now: float) -> dict[str, Any]:
        """All that is worth keeping, for `read`; of very many, the highest scores."""
        found: dict[str, dict[str, list[float]]] = {}
        if self.lost:
            # In the same form as scores, or an older version could read none of it.
            found["lost"] = {name: [1, 0] for name in _fitting(sorted(self.lost))}
        for name, scores in (("nodes", self.nodes), ("leaves", self.leaves)):
            left = {one: score.by(now, self.half_life) for one, score in scores.items()}
            worth = [one for one in sorted(left) if left[one] >= SCORE_FLOOR]
            kept = _fitting(sorted(worth, key=lambda one: -left[one]))
            found[name] = {
                one: [round(scores[one].value, 3), round(scores[one].at)] for one in sorted(kept)
            }
        return found

    def read(self, text: str) -> bool:
        """Add what was kept; False, and nothing is added, where the text makes no sense."""
        try:
            found = _KEPT.validate_json(text)
        except ValidationError:
            return False
        rows = [row for scores in found.values() for row in scores.values()]
        if not all(0 <= value <= MOST_FAILURES and abs(at) <= LAST_MOMENT for value, at in rows):
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


def _fitting(names: Sequence[str]) -> Sequence[str]:
    """The first of `names` that take `MOST_KEPT_BYTES` together, with a score each."""
    left = MOST_KEPT_BYTES
    for number, name in enumerate(names):
        left -= len(name.encode("utf-8", "replace")) + _SCORE_BYTES
        if left < 0:
            return names[:number]
    return names


_SCORE_BYTES = 30
"""About what a score takes as JSON, quotes and escapes included."""
