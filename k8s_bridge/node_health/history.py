"""Failures, kept in a Lease so that they outlast whoever leads."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
import structlog

from k8s_bridge.clock import Clock
from k8s_bridge.cluster.errors import AlreadyExists, ClusterError, NotFound
from k8s_bridge.cluster.kinds import LEASES
from k8s_bridge.cluster.protocol import Body, Cluster, Target
from k8s_bridge.ledger.names import CONTENT
from k8s_bridge.node_health.failures import Failures

NAME = "fourleaf-node-failures"
"""The Lease that holds them."""


@dataclass(slots=True, eq=False)
class History:
    """Reads and writes the failures. What cannot be written is kept until the next failure."""

    cluster: Cluster
    namespace: str
    clock: Clock

    async def load(self, failures: Failures) -> None:
        """Take what was kept, if anything was; what makes no sense is reported and left."""
        log = structlog.get_logger(__name__)
        try:
            body = await self.cluster.get(LEASES, Target(self.namespace, NAME))
        except NotFound:
            return
        except ClusterError as error:
            log.warning("failures_not_read", why=str(error))
            return
        text = (body["metadata"].get("annotations") or {}).get(CONTENT, "")
        if not failures.read(text):
            log.warning("failures_unreadable", lease=NAME)

    async def save(self, failures: Failures) -> None:
        """Write all failures down."""
        text = orjson.dumps(failures.content(self.clock.wall())).decode()
        metadata: Body = {"name": NAME, "annotations": {CONTENT: text}}
        body: Body = {"metadata": metadata, "spec": {}}
        try:
            try:
                await self.cluster.create(LEASES, self.namespace, body)
            except AlreadyExists:
                found = await self.cluster.get(LEASES, Target(self.namespace, NAME))
                version = found["metadata"]["resourceVersion"]
                metadata["resourceVersion"] = version
                target = Target(self.namespace, NAME, "", version)
                await self.cluster.replace(LEASES, target, body)
        except ClusterError as error:
            structlog.get_logger(__name__).warning("failures_not_written", why=str(error))
