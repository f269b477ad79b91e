"""The certificate in use, replaced between two handshakes."""

from __future__ import annotations

import ssl

import structlog

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.tls.pair import BrokenPair, Pair, context_of, new_context

_log = structlog.get_logger(__name__)


class Certificate:
    """What new handshakes are shown. `context` is the listener's, the same for ever.

    Each handshake takes certificate and key from the newest good pair, both at once, whatever
    kinds of keys came before. What was agreed on before stays as it is.
    """

    def __init__(self, clock: Clock, metrics: WebhookMetrics) -> None:
        self.context = new_context()
        self.context.sni_callback = self._show
        self._clock = clock
        self._metrics = metrics
        self._pair: Pair | None = None
        self._now: ssl.SSLContext | None = None

    @property
    def usable(self) -> bool:
        """Whether there is any to be shown."""
        return self._now is not None

    @property
    def pair(self) -> Pair | None:
        """What is shown now."""
        return self._pair

    def offer(self, pair: Pair) -> bool:
        """Show `pair` from now on, unless it is broken: then the one before stays.

        A broken one is told by the metric and the log. Whether `pair` is shown now.
        """
        if pair == self._pair:
            return True
        try:
            self._now = context_of(pair, self._clock.wall())
        except BrokenPair as broken:
            self.refuse(str(broken))
            return False
        self._pair = pair
        self._metrics.certificate(pair.not_after)
        serial = f"{pair.leaf.serial_number:x}"
        _log.info("certificate", serial=serial, until=pair.leaf.not_valid_after_utc.isoformat())
        return True

    def refuse(self, why: str) -> None:
        """Note that there should be another and cannot be."""
        self._metrics.certificate_failed()
        kept = "the one before stays" if self.usable else "there is none to show"
        _log.error("certificate_refused", why=why, kept=kept)

    def _show(self, handshake: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> int | None:
        if self._now is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        handshake.context = self._now
        return None
