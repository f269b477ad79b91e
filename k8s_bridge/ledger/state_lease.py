"""State lease: something small that has to outlast a leader, in a Lease of its own."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class StateLease:
    """What the Lease `name` holds. Nothing hangs on it: what fails is logged, and no more."""

    cluster: Cluster
    namespace: str
    name: str
    clock: Clock

    async def load(self) -> str:
        """What was saved last, as JSON; "" where nothing was, or it cannot be had."""
        try:
            body = await self._read()
        except NotFound:
            return ""
        except ClusterError as error:
            self._warn("not_loaded", str(error))
            return ""
        return str((body["metadata"].get("annotations") or {}).get(CONTENT, ""))

    async def _read(self) -> Body:
        backoff, began = Backoff(self.clock), self.clock.monotonic()
        while True:
            try:
                return await self.cluster.get(LEASES, Target(self.namespace, self.name))
            except (Ambiguous, Throttled) as error:
                if self.clock.monotonic() - began >= LOAD_LIMIT_SECONDS:
                    raise
                await backoff.wait(error.retry_after)

    async def save(self, content: Any) -> None:
        """Keep `content`, of what JSON can say, in place of what was kept."""
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

    def unreadable(self) -> None:
        """What was loaded makes no sense."""
        self._warn("unreadable", "its content makes no sense, and is written anew in time")

    def _warn(self, event: str, why: str) -> None:
        import structlog

        structlog.get_logger(__name__).warning(event, lease=self.name, why=why)
