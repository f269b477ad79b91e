"""Gangs that pods were evicted for: none is again until a window is over, and that is told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import Gang, GangKey


@dataclass(slots=True)
class _Window:
    """Open `until`, on the monotonic clock."""

    until: float
    is_told: bool = False
    is_second: bool = False


@dataclass(slots=True, eq=False)
class PreemptionWindows:
    """The windows of one term; the next leader begins anew."""

    clock: Clock
    _windows: dict[GangKey, _Window] = field(default_factory=dict)
    _reopened: dict[GangKey, float] = field(default_factory=dict)
    """Gangs of which the next window is the second of two: until when that counts, monotonic."""

    def open(self, gang: GangKey, seconds: float) -> None:
        """Pods are evicted for a gang now."""
        until = self.clock.monotonic() + seconds
        reopened = self._reopened.pop(gang, None)
        self._windows[gang] = _Window(until, is_second=reopened is not None)

    def may_reopen(self, gang: GangKey) -> bool:
        """Whether others may go at once for a gang, as what has gone cannot serve it: once."""
        one = self._windows.get(gang)
        if one is None or one.is_second:
            return False
        self._reopened[gang] = one.until
        return True

    def close(self, gang: GangKey) -> None:
        """None had to go for it after all, or others may at once."""
        self._windows.pop(gang, None)

    def untold(self, gangs: Iterable[Gang]) -> Iterator[tuple[Gang, float]]:
        """Those of `gangs` whose window is open, and for how many seconds more; each once."""
        now = self.clock.monotonic()
        self._windows = {gang: one for gang, one in self._windows.items() if one.until > now}
        self._reopened = {gang: until for gang, until in self._reopened.items() if until > now}
        if not self._windows:
            return
        for gang in gangs:
            one = self._windows.get(gang.key)
            if one is not None and not one.is_told:
                one.is_told = True
                yield gang, one.until - now
