"""Spreading silence: how many nodes fall silent is not known yet, and those that did are not dead.

A network may come apart switch by switch. The first nodes behind it would be dead before most are
silent, which is what tells a network from its nodes (`GeneralSilence`).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.node_health.general_silence import FEW_SILENT_NODES

SPREAD_SECONDS = 5.0
"""Half of the ten seconds in which kubelets that were cut off at once are found to be late."""

SPREAD_SHARE = 0.1
"""Of all nodes, what has to have fallen silent within these seconds."""

SPREAD_LIMIT_SECONDS = 60.0
"""Seconds for which it may go on: nodes may fall silent and be heard again for ever."""


@dataclass(slots=True, eq=False)
class SpreadingSilence:
    """Which nodes fell silent when, in monotonic seconds."""

    _since: dict[str, float] = field(default_factory=dict)
    _began: float | None = None

    def spreads(self, silent: Set[str], count: int, now: float) -> bool:
        """Whether many of `count` nodes have just fallen silent; `silent` are all that are so."""
        self._since = {name: self._since.get(name, now) for name in silent}
        fresh = sum(now - since < SPREAD_SECONDS for since in self._since.values())
        if fresh <= FEW_SILENT_NODES or fresh < SPREAD_SHARE * count:
            self._began = None
            return False
        if self._began is None:
            self._began = now
        return now - self._began < SPREAD_LIMIT_SECONDS
