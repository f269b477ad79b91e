"""State lease: something small that has to outlast a leader, in a Lease of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from fourleaf.k8s_bridge.cluster.errors import (
    AlreadyExists,
    Ambiguous,
    ClusterError,
    NotFound,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.ledger.names import CONTENT
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock

LOAD_LIMIT_SECONDS = 10.0
"""Seconds for which a Lease is asked for that the API does not answer about: leaders change when it
has a bad moment, and what is not loaded is written over."""

SAVE_RETRY_SECONDS = 10.0
"""Seconds after which what could not be saved is saved again."""


@dataclass(frozen=True, slots=True)
class StateLease:
    """What the Lease `name` holds. Nothing hangs on it: what fails is logged, and tried again."""

    cluster: Cluster
    namespace: str
    name: str
    clock: Clock

    async def load(self, limit: float = LOAD_LIMIT_SECONDS) -> str:
        """What was saved last, as JSON; "" where nothing was, or it cannot be had.

        Where the API does not answer it is asked again, for `limit` seconds.
        """
        return await self.load_or_none(limit) or ""

    async def load_or_none(self, limit: float = 0.0) -> str | None:
        """As `load`, but None where it cannot be had."""
        try:
            body = await self._read(limit)
        except NotFound:
            return ""
        except ClusterError as error:
            self._warn("not_loaded", str(error))
            return None
        return str((body["metadata"].get("annotations") or {}).get(CONTENT, ""))

    async def _read(self, limit: float) -> Body:
        backoff, began = Backoff(self.clock), self.clock.monotonic()
        while True:
            try:
                return await self.cluster.get(LEASES, Target(self.namespace, self.name))
            except (Ambiguous, Throttled) as error:
                if self.clock.monotonic() - began >= limit:
                    raise
                await backoff.wait(error.retry_after)

    async def save(self, content: Any) -> bool:
        """Keep `content`, of what JSON can say, in place of what was kept; whether it is."""
        metadata: Body = {
            "name": self.name,
            "annotations": {CONTENT: orjson.dumps(content).decode()},
        }
        body: Body = {"metadata": metadata, "spec": {}}
        try:
            try:
                await self.cluster.create(LEASES, self.namespace, body)
            except AlreadyExists:
                found = await self.cluster.get(LEASES, Target(self.namespace, self.name))
                version = found["metadata"]["resourceVersion"]
                metadata["resourceVersion"] = version
                target = Target(self.namespace, self.name, "", version)
                await self.cluster.replace(LEASES, target, body)
        except ClusterError as error:
            self._warn("not_saved", str(error))
            return False
        return True

    def unreadable(self) -> None:
        """What was loaded makes no sense."""
        self._warn("unreadable", "its content makes no sense, and is written anew in time")

    def _warn(self, event: str, why: str) -> None:
        import structlog

        structlog.get_logger(__name__).warning(event, lease=self.name, why=why)


@dataclass(slots=True, eq=False)
class SavedInTime:
    """Whether what `kept` is to hold has been saved; what could not be is saved again later."""

    kept: StateLease
    _is_saved: bool = True
    _due: float = 0.0
    """When the next try is due, on the monotonic clock."""

    def changed(self) -> None:
        """There is something else to save."""
        self._is_saved = False

    async def save(self, content: Callable[[], Any]) -> None:
        """Save what there is now, where that has changed and a try is due."""
        if self._is_saved or self.kept.clock.monotonic() < self._due:
            return
        # What changes while it is being written is to be written once more.
        self._is_saved = True
        if not await self.kept.save(content()):
            self._is_saved = False
            self._due = self.kept.clock.monotonic() + SAVE_RETRY_SECONDS
