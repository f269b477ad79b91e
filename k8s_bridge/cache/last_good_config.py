"""Last good config: kept in a Lease, so that it outlasts a restart after a bad edit.

A process that starts while the ConfigMap makes no sense has read no good one itself, and would go
on with the defaults, which know no quota.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import ValidationError

from fourleaf.k8s_bridge.cache.config_watcher import ConfigWatcher
from fourleaf.k8s_bridge.ledger.state_lease import LOAD_LIMIT_SECONDS, StateLease
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
    _is_read: bool = False

    async def restore(self) -> None:
        """Take what a leader before had in force, where the ConfigMap makes no sense now."""
        text = None if self._is_good or self._is_read else await self._load()
        # A good edit may have come meanwhile.
        if not text or self._is_good:
            return
        try:
            self.watcher.recall(SchedulerConfig.model_validate_json(text))
        except ValidationError:
            self.kept.unreadable()

    async def follow(self) -> None:
        """Keep what comes into force, for as long as this process leads."""
        while True:
            await self.restore()
            config = self.watcher.state.config
            if self._is_good and config != self._saved:
                document = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
                if await self.kept.save(document):
                    self._saved = config
            await self.clock.sleep(LOOK_SECONDS)

    @property
    def _is_good(self) -> bool:
        """Whether what is in force was written by people, and makes sense."""
        return self.watcher.state.valid or self.watcher.state.source != BUILT_IN

    async def _load(self) -> str | None:
        """What was kept, "" where nothing was; None where the API does not say."""
        text = await self.kept.load_or_none(LOAD_LIMIT_SECONDS)
        self._is_read = text is not None
        return text
