"""A certificate of our own making, shared by the replicas in a Secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.cluster.kinds import SECRETS
from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.tls.authority_state import AuthorityState, Lifetimes, advanced, begun
from fourleaf.webhook.tls.bundles import Bundles, Overtaken
from fourleaf.webhook.tls.certificate import Certificate
from fourleaf.webhook.tls.pair import BrokenPair
from fourleaf.webhook.tls.secret import from_secret, to_secret

LOOK_SECONDS = 15.0
"""Seconds between two looks at the Secret and the configurations."""
MOST_CONFLICTS = 8
"""Conflicts with other replicas in one look; each means that one of them got on."""

_MISSING = "Apply deploy/rbac/webhook.yaml, or upgrade the chart's release: both have it, empty"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """Where the Secret is, which configurations trust it, and the hosts of the certificate."""

    namespace: str
    secret: str
    configuration: str
    hosts: Sequence[str]


class SelfSigned:
    """Keeps the Secret, the configurations and the certificate in use in step."""

    def __init__(
        self,
        cluster: Cluster,
        place: SecretPlace,
        certificate: Certificate,
        clock: Clock,
        metrics: WebhookMetrics,
        lives: Lifetimes | None = None,
    ) -> None:
        self._cluster = cluster
        self._place = place
        self._bundles = Bundles(cluster, place.configuration)
        self._certificate = certificate
        self._clock = clock
        self._metrics = metrics
        self._lives = lives or Lifetimes()
        self.synced = -float("inf")
        """When a look last went through, by the monotonic clock."""

    async def follow(self) -> None:
        """Look again and again, for ever."""
        while True:
            try:
                await self.sync()
            except ClusterError as error:
                _log.warning("certificate_not_checked", why=str(error))
            await self._clock.sleep(LOOK_SECONDS)

    async def sync(self) -> None:
        """One look: move on what is due, let it be trusted, and show it.

        Raises `ClusterError` where the cluster does not let us.
        """
        for _ in range(MOST_CONFLICTS):
            try:
                state = await self._agreed()
                self._certificate.offer(state.serving)
                await self._bundles.put(state.bundle, state.generation)
            except (Conflict, Overtaken):
                continue
            self.synced = self._clock.monotonic()
            self._metrics.certificate_checked(self._clock.wall())
            return
        raise Conflict("other replicas were faster every time", 409, "Conflict")

    async def _agreed(self) -> AuthorityState:
        """The state of the Secret, moved on where that is due. Raises `Conflict`.

        The Secret is installed empty: a right to create it would be one to create any.
        """
        target = Target(self._place.namespace, self._place.secret)
        now, hosts, lives = self._clock.wall(), self._place.hosts, self._lives
        try:
            body = await self._cluster.get(SECRETS, target)
        except NotFound as error:
            raise NotFound(f"{error}. {_MISSING}", 404, "NotFound") from None
        found: AuthorityState | None = None
        try:
            found = from_secret(body)
            in_place = await self._bundles.hold(found.bundle, found.generation)
            wanted = advanced(found, now, hosts, lives, in_place=in_place)
        except BrokenPair as broken:
            if body.get("data"):
                self._certificate.refuse(f"Secret {target}: {broken}; it is made anew")
            wanted = begun(now, hosts, lives, await self._bundles.generation() + 1)
        if wanted == found:
            return wanted
        metadata = body["metadata"]
        exact = Target(target.namespace, target.name, metadata["uid"], metadata["resourceVersion"])
        content = to_secret(self._place.secret, wanted)
        await self._cluster.replace(SECRETS, exact, {**body, "data": content["data"]})
        _log.info("certificate_moved_on", generation=wanted.generation)
        return wanted
