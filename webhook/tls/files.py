"""A certificate in files, as cert-manager and its like keep it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from watchfiles import awatch

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.tls.certificate import Certificate
from fourleaf.webhook.tls.pair import BrokenPair, Pair, context_of

CERTIFICATE = "tls.crt"
KEY = "tls.key"

REREAD_SECONDS = 30.0
"""Seconds after which files are read again though nothing was said of them."""
QUIET_MS = 200
"""How long a folder has to be quiet: who writes two files has written both by then."""
MISMATCH_SECONDS = 1.0
"""Seconds in which a pair that does not match may become one."""

Changes = Callable[[Path], AsyncIterator[object]]


class CertificateFiles:
    """`tls.crt` and `tls.key` in a folder, watched."""

    def __init__(
        self, folder: Path, certificate: Certificate, clock: Clock, metrics: WebhookMetrics
    ) -> None:
        self._folder = folder
        self._certificate = certificate
        self._clock = clock
        self._metrics = metrics
        self._refused: Pair | None = None

    def read(self) -> Pair:
        """The pair as it stands. Raises `BrokenPair` where it cannot be read."""
        try:
            return Pair(
                (self._folder / CERTIFICATE).read_bytes(), (self._folder / KEY).read_bytes()
            )
        except OSError as error:
            raise BrokenPair(f"{error.filename}: {error.strerror}") from None

    async def take(self) -> None:
        """Offer the pair as it stands; one that does not match yet gets a second look."""
        try:
            pair = self.read()
            context_of(pair, self._clock.wall())
        except BrokenPair:
            await self._clock.sleep(MISMATCH_SECONDS)
            self._offer()
        else:
            self._refused = None
            self._certificate.offer(pair)
        self._metrics.certificate_checked(self._clock.wall())

    def _offer(self) -> None:
        try:
            pair = self.read()
        except BrokenPair as broken:
            if self._refused != _NOTHING:
                self._refused = _NOTHING
                self._certificate.refuse(str(broken))
            return
        # What was refused once is told once, however often it is read.
        if pair != self._refused:
            self._refused = None if self._certificate.offer(pair) else pair

    async def follow(self, changes: Changes | None = None) -> None:
        """Take every new pair, for ever; `changes` says when to look."""
        async for _ in (changes or _watched)(self._folder):
            await self.take()


_NOTHING = Pair(b"", b"")


def _watched(folder: Path) -> AsyncIterator[object]:
    # Kubernetes replaces files of a Secret by turning a link in their folder.
    return awatch(
        folder,
        watch_filter=None,
        debounce=1000,
        step=QUIET_MS,
        recursive=False,
        rust_timeout=int(REREAD_SECONDS * 1000),
        yield_on_timeout=True,
        poll_delay_ms=500,
    )
