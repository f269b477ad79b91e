"""What happened in one run: told to people, counted for tests, hashed to compare runs."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from tests.twins.virtual_clock import VirtualClock

WHO: ContextVar[str] = ContextVar("who", default="world")
"""Whose task is running: a replica's identity, or the world's."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A law that did not hold, and how; `moment` in seconds since the start."""

    law: str
    what: str
    moment: float

    def __str__(self) -> str:
        return f"{self.law}: {self.what} (after {self.moment:.3f} s)"


@dataclass(eq=False)
class Story:
    """The story of one run. With `aloud`, its lines are printed as they come."""

    clock: VirtualClock
    aloud: bool = False
    injected: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    breaches: list[Breach] = field(default_factory=list)
    _digest: Any = field(default_factory=hashlib.sha256)

    def tell(self, what: str) -> None:
        """Something happened."""
        line = f"{self.clock.monotonic():9.3f}  {WHO.get():<8} {what}"
        self._digest.update(line.encode())
        if self.aloud:
            print(line)  # noqa: T201 - what a person asked to see

    def struck(self, fault: str, what: str) -> None:
        """A fault was injected."""
        self.injected[fault] += 1
        self.tell(f"FAULT {fault}: {what}")

    def did(self, event: str, what: str = "") -> None:
        """Something happened that is worth counting."""
        self.happened[event] += 1
        self.tell(f"{event} {what}")

    def broken(self, law: str, what: str) -> None:
        """A law does not hold."""
        breach = Breach(law, what, self.clock.monotonic())
        self.breaches.append(breach)
        self.tell(f"BREACH {breach}")

    @property
    def digest(self) -> str:
        """A hash of everything told so far."""
        return str(self._digest.hexdigest())

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take what the product logs into the story, meanwhile."""
        before = structlog.get_config()
        level = logging.INFO if self.aloud else logging.WARNING
        structlog.configure(
            processors=[self._logged],
            wrapper_class=structlog.make_filtering_bound_logger(level),
            cache_logger_on_first_use=False,
        )
        try:
            yield
        finally:
            structlog.configure(**before)

    def _logged(self, _: Any, level: str, event: MutableMapping[str, Any]) -> str:
        if event["event"] == "term_failed":
            self._judge(event["exc_info"])
        said = " ".join(f"{k}={v}" for k, v in event.items() if k not in ("event", "exc_info"))
        if self.aloud:
            line = f"{self.clock.monotonic():9.3f}  {WHO.get():<8} log {event['event']} {said}"
            print(line)  # noqa: T201 - what a person asked to see
        raise structlog.DropEvent

    def _judge(self, error: BaseException) -> None:
        """A term may end by what the cluster answers, never by a mistake of its own."""
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                self._judge(one)
        elif not isinstance(error, ClusterError):
            self.broken("terms end for a reason", f"{type(error).__name__}: {error}")
