"""Owner kinds as they are followed: those of the table, as the config in force has it."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.informers.informers import Informers
from fourleaf.k8s_bridge.informers.selection import Selection
from fourleaf.model.config.owner_kinds import BUILT_IN_OWNER_KINDS, OwnerKind, merged
from fourleaf.model.config.spec import SchedulerConfig


def owner_selections(table: Iterable[OwnerKind]) -> tuple[Selection, ...]:
    """What to follow for the kinds of the table."""
    return tuple(_selection(one) for one in table)


def _selection(said: OwnerKind) -> Selection:
    first, *others = (
        Kind(said.group, version, said.resource, said.kind, makes_pods=True)
        for version in said.versions
    )
    return Selection(first, tuple(others))


BUILT_IN_OWNERS = owner_selections(BUILT_IN_OWNER_KINDS)
"""The kinds that the table has where the config adds none."""


class OwnerInformers:
    """Keeps the owners that are followed in step with the config in force.

    Nothing else waits for them: of a kind that cannot be read, its own gangs alone are held.
    """

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._followed = BUILT_IN_OWNERS
        informers.select((), BUILT_IN_OWNERS)

    def configure(self, config: SchedulerConfig) -> None:
        """Follow the kinds of the built-in table and of `config`, and no other."""
        wanted = owner_selections(merged(config.spec.owner_kinds).table)
        if wanted != self._followed:
            before = {one.kind for one in self._followed}
            self._informers.select(before | {one.kind for one in wanted}, wanted)
            self._followed = wanted
