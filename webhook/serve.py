"""The webhook as a program: what it starts, in which order it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.http.limits import LIMITS, ServerLimits
from fourleaf.k8s_bridge.runtime.http.listener import Listener
from fourleaf.webhook.cluster_state import CONFIG, follow_claims, follow_config
from fourleaf.webhook.decide import Route
from fourleaf.webhook.http.app import application
from fourleaf.webhook.http.probes import side_application
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.names import NAME, NAMESPACE, SECRET
from fourleaf.webhook.settings import SCHEDULER_USER, Settings
from fourleaf.webhook.state import State
from fourleaf.webhook.tls.certificate import Certificate
from fourleaf.webhook.tls.files import CertificateFiles
from fourleaf.webhook.tls.self_signed import SecretPlace, SelfSigned

CERTIFICATE = "certificate"
"""What lacks, or is stale, where there is no certificate to trust."""
STALE_SECONDS = 900.0
"""Seconds without a look at the source of our own certificate; far below `Lifetimes.overlap`."""
CERTIFICATE_LOOK_SECONDS = 1.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """Where to listen, who the scheduler is, and where the certificate comes from.

    `certificates` is a folder with `tls.crt` and `tls.key`; without it the certificate is our
    own, for `hosts`. `leave` is how many seconds pass between saying that no new clients should
    come and closing the door.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    side_host: str = "127.0.0.1"
    side_port: int = 8081
    namespace: str = NAMESPACE
    config_namespace: str = NAMESPACE
    scheduler_names: tuple[str, ...] = ()
    scheduler_users: frozenset[str] = frozenset({SCHEDULER_USER})
    certificates: Path | None = None
    hosts: tuple[str, ...] = ()
    leave: float = 5.0
    limits: ServerLimits = field(default=LIMITS)


def hosts_of_service(namespace: str, name: str = NAME) -> tuple[str, ...]:
    """The names by which the API server calls a Service, the one that it verifies first."""
    return f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local"


class CertificateSource(Protocol):
    """Where the certificate comes from."""

    async def follow(self) -> None:
        """Offer every new one, for ever."""


async def serve(
    cluster: Cluster, clock: Clock, options: WebhookOptions, stop: asyncio.Event
) -> None:
    """Answer reviews until `stop` is set. Raises `OSError` where an address cannot be had."""
    metrics = WebhookMetrics(tuple(Route))
    state = State(
        Settings(scheduler_users=options.scheduler_users),
        lacking={CONFIG, CERTIFICATE},
    )
    certificate = Certificate(clock, metrics)
    source = await _source(cluster, clock, options, certificate, metrics)
    doors = application(state, metrics, options.limits)
    side = side_application(state, metrics)
    async with (
        Listener(side, options.side_host, options.side_port, limits=options.limits),
        Listener(doors, options.host, options.port, certificate.context, options.limits) as front,
    ):
        _log.info("listening", host=options.host, port=front.port)
        await _until(
            stop,
            follow_config(
                cluster, clock, options.config_namespace, state, metrics, options.scheduler_names
            ),
            follow_claims(cluster, clock, state),
            source.follow(),
            _watch_certificate(clock, state, certificate, source),
        )
        state.draining = True
        _log.info("leaving", seconds=options.leave)
        await clock.sleep(options.leave)


async def _source(
    cluster: Cluster,
    clock: Clock,
    options: WebhookOptions,
    certificate: Certificate,
    metrics: WebhookMetrics,
) -> CertificateSource:
    """The source of the certificate, asked once."""
    if options.certificates is not None:
        files = CertificateFiles(options.certificates, certificate, clock, metrics)
        await files.take()
        return files
    hosts = options.hosts or hosts_of_service(options.namespace)
    place = SecretPlace(options.namespace, SECRET, NAME, hosts)
    own = SelfSigned(cluster, place, certificate, clock, metrics)
    try:
        await own.sync()
    except ClusterError as error:
        _log.warning("certificate_not_checked", why=str(error))
    return own


async def _until(stop: asyncio.Event, *work: Coroutine[Any, Any, None]) -> None:
    """Do all `work` until `stop` is set; an error of any of it is ours."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in work]
        await stop.wait()
        for task in tasks:
            task.cancel()


async def _watch_certificate(
    clock: Clock, state: State, certificate: Certificate, source: CertificateSource
) -> None:
    """Keep `state` true about the certificate."""
    while True:
        if certificate.usable:
            state.lacking.discard(CERTIFICATE)
        pair = certificate.pair
        ended = pair is not None and pair.not_after <= clock.wall()
        unseen = (
            isinstance(source, SelfSigned) and clock.monotonic() - source.synced > STALE_SECONDS
        )
        (state.stale.add if ended or unseen else state.stale.discard)(CERTIFICATE)
        await clock.sleep(CERTIFICATE_LOOK_SECONDS)
