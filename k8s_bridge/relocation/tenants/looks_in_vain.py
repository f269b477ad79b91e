"""Looks in vain: whose gangs were looked at and nothing came of it, so that others go first.

One gang is looked at a second, and a tenant may have any number of gangs that nothing helps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey

REMEMBERED_SECONDS = 3600.0
"""Seconds for which a look is remembered; by then all others have had their turns."""


@dataclass(slots=True, eq=False)
class LooksInVain:
    """In one term: when gangs, and namespaces, were looked at in vain, on the monotonic clock."""

    clock: Clock
    _gangs: dict[GangKey, float] = field(default_factory=dict)
    _namespaces: dict[str, float] = field(default_factory=dict)

    def note(self, gang: GangKey) -> None:
        """Nothing has come of a look at `gang`. Its namespace has had its turn, even without it."""
        now = self.clock.monotonic()
        oldest = now - REMEMBERED_SECONDS
        self._gangs = {key: at for key, at in self._gangs.items() if at > oldest} | {gang: now}
        namespaces = {name: at for name, at in self._namespaces.items() if at > oldest}
        self._namespaces = namespaces | {gang.namespace: now}

    def at(self, gang: GangKey) -> float:
        """When it was last looked at in vain, minus infinity for never."""
        return self._gangs.get(gang, -math.inf)

    def in_namespace(self, name: str) -> float:
        """When any gang of a namespace was, minus infinity for never."""
        return self._namespaces.get(name, -math.inf)
