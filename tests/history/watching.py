"""A run under observation: recorded from its start, judged at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.history.check import Expectations, Verdict, check
from tests.history.history import History, taken
from tests.history.laws.law import Law
from tests.history.server import Server
from tests.history.versions import Recorder


@dataclass(frozen=True, slots=True)
class Watching:
    """What is being recorded. `start` is how many bytes of the audit log were there before."""

    recorder: Recorder
    audit_log: Path
    start: int = 0

    def history(self) -> History:
        """The history up to now. Raises `OSError`, `Refused` where the server does not answer."""
        return taken(self.recorder, self.audit_log, self.start)

    def verdict(self, expected: Expectations, more: Sequence[Law] = ()) -> Verdict:
        """The history up to now, judged."""
        return check(self.history(), expected, more)

    def judge(self, expected: Expectations, more: Sequence[Law] = ()) -> Verdict:
        """The verdict where every law holds. Raises `AssertionError` with it where one does not."""
        verdict = self.verdict(expected, more)
        assert verdict.ok, "\n".join(verdict.lines())
        return verdict


@contextmanager
def watching(kubeconfig: Path, audit_log: Path) -> Iterator[Watching]:
    """Record all that happens from here on."""
    start = audit_log.stat().st_size if audit_log.exists() else 0
    with Recorder(Server.of(kubeconfig)) as recorder:
        yield Watching(recorder, audit_log, start)
