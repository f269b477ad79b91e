"""A cluster at one moment, as every page looks at it, and who can tell of one."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from fourleaf.dashboard.sources.history import HistoryView
from fourleaf.model.gang import GangKey
from fourleaf.model.problems import Problem
from fourleaf.model.readers.text.sources import Source
from fourleaf.model.running_gang import EvictionLimit, PodName, StandingGang
from fourleaf.model.snapshot import Snapshot

Body = Mapping[str, Any]
Stands = Callable[[Container[str], bool], Sequence[StandingGang]]
Limits = Callable[[Iterable[PodName]], tuple[EvictionLimit, ...]]


@dataclass(frozen=True)
class ClusterMoment:
    """What there is. `version` grows with every look that may differ from the one before.

    `pods` and `jobs` are the objects by namespace and name. `stands` answers `standing`, `limits`
    `eviction_limits`. `unsynced` names kinds that are not completely known, or no longer up to
    date. `system` is the scheduler's namespace, "" where none is known.
    """

    version: int
    snapshot: Snapshot
    problems: tuple[Problem, ...]
    pods: Mapping[tuple[str, str], Body]
    stands: Stands = field(repr=False, compare=False)
    limits: Limits = field(repr=False, compare=False)
    unsynced: tuple[str, ...] = ()
    jobs: Mapping[tuple[str, str], Body] = field(default_factory=dict)
    system: str = ""

    def standing(self, leaving: Container[str], everyone: bool) -> Sequence[StandingGang]:
        """The gangs that run, as they would stand without `leaving`; see `Reading.standing`."""
        return self.stands(leaving, everyone)

    def eviction_limits(self, pods: Iterable[PodName]) -> tuple[EvictionLimit, ...]:
        """What disruption budgets say of these pods."""
        return self.limits(pods)


class ClusterSource(Protocol):
    """Shows a cluster, and never changes it."""

    @property
    def name(self) -> str:
        """What pages call it."""

    @property
    def live(self) -> bool:
        """Whether it changes."""

    @property
    def unsynced(self) -> tuple[str, ...]:
        """Kinds that are not completely known."""

    def moment(self) -> ClusterMoment:
        """The cluster as it is known now."""

    async def synced(self) -> None:
        """Wait until everything is known once. Raises what broke the reading."""

    async def changed(self) -> None:
        """Wait until something has changed since the last call."""

    def beside(self, given: Sequence[Source]) -> Snapshot:
        """What there would be to plan with `given` on top. Slow. Raises `BadInput`."""

    async def history(self, gang: GangKey, pods: Sequence[str]) -> HistoryView:
        """What is recorded of a gang with these pods."""
