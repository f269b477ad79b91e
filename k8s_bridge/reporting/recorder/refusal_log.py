"""Log of writes that the API refuses: a line when a refusal is new, not one for each write.

A namespace that is being deleted refuses every event of all its gangs, and so does a webhook.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.runtime.clock import Clock

REFUSAL_SECONDS = 600.0
"""Seconds after which a refusal that goes on has another line, with how many there were."""

MOST_REFUSALS = 256
"""Kinds of refusals that are remembered: a webhook may give each of its own words."""

_QUOTED = re.compile(r'"[^"]*"')
"""The names of objects, in the words of the API."""


@dataclass(slots=True)
class _Refusal:
    """`at` is its last line, on the monotonic clock; `more` came since."""

    at: float
    more: int = 0


class RefusalLog:
    """What one queue has said of refusals."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._known: OrderedDict[Hashable, _Refusal] = OrderedDict()
        self._log = structlog.get_logger(__name__)

    def refused(self, namespace: str, item: Hashable, error: ClusterError) -> None:
        """The API has refused an item of a namespace."""
        words = _QUOTED.sub('""', str(error).partition(": ")[2])
        key, now = (namespace, error.status, words), self._clock.monotonic()
        known = self._known.get(key)
        if known is not None and now - known.at < REFUSAL_SECONDS:
            known.more += 1
            return
        more = 0 if known is None else known.more
        self._known[key] = _Refusal(now)
        self._known.move_to_end(key)
        if len(self._known) > MOST_REFUSALS:
            self._known.popitem(last=False)
        why = str(error)
        self._log.warning("not_told", lane=self._name, item=str(item), why=why, more_before=more)
