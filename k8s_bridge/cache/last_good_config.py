"""Last good config: kept in a Lease, so that it outlasts a restart after a bad edit.

A process that starts while the ConfigMap makes no sense has read no good one itself, and would go
on with the defaults, which know no quota.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import ValidationError

from fourleaf.k8s_bridge.cache.config_watcher import ConfigWatcher
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.readers.config import BUILT_IN

CONFIG_LEASE = "fourleaf-config"
"""The Lease that keeps it."""
LOOK_SECONDS = 5.0
"""Seconds between two looks whether another config is in force."""


@dataclass(slots=True, eq=False)
class LastGoodConfig:
    """The last good config of the leaders, this one and those before."""

    kept: StateLease
    watcher: ConfigWatcher
    clock: Clock
    _saved: SchedulerConfig | None = field(default=None)

    async def restore(self) -> None:
        """Take what a leader before had in force, where the ConfigMap makes no sense now."""
        state = self.watcher.state
        if state.valid or state.source != BUILT_IN:
            return
        text = await self.kept.load()
        if not text:
            return
        try:
            self.watcher.recall(SchedulerConfig.model_validate_json(text))
        except ValidationError:
            self.kept.unreadable()

    async def follow(self) -> None:
        """Keep what comes into force, for as long as this process leads."""
        while True:
            state = self.watcher.state
            good = state.valid or state.source != BUILT_IN
            if good and state.config != self._saved:
                self._saved = state.config
                document = state.config.model_dump(mode="json", by_alias=True, exclude_unset=True)
                await self.kept.save(document)
            await self.clock.sleep(LOOK_SECONDS)
