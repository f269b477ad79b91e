"""Record room: which relocations no Lease can hold, known before a pod is evicted for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import structlog

from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.running_gang import StandingGang


@dataclass(slots=True, eq=False)
class RecordRoom:
    """Remembers gangs whose relocation is too large, for as long as they stand as they did."""

    store: RelocationStore
    _large: dict[GangKey, Gang] = field(default_factory=dict)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def forbids(self, one: StandingGang) -> bool:
        """Whether a relocation of the gang, as it stands, was too large."""
        return self._large.get(one.gang.key) == one.gang

    def lacking(
        self, plan: Iterable[Relocation], standing: Iterable[StandingGang]
    ) -> Mapping[GangKey, str]:
        """The gangs of a plan whose relocation no Lease can hold, and why; it is remembered.

        One that is too large leaves the others without the room that its pods would make, so
        none of the plan is to be carried out.
        """
        gangs = {one.gang.key: one.gang for one in standing}
        self._large = {key: gang for key, gang in self._large.items() if key in gangs}
        found = {one.gang: why for one in plan if (why := self.store.lacks_room(one))}
        for key, why in found.items():
            self._large[key] = gangs[key]
            self._log.warning("relocation_too_large", gang=str(key), why=why)
        return found
