"""What the tests of the solver process share: calls with a fault, and who is still there."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from fourleaf.model.plan import Plan
from fourleaf.solver.process.client import SolverClient
from tests.solver.process.stand_ins import snapshot

WORKER = "tests.solver.process.faulty_worker"
LIMIT = 1.0
"""Seconds of a call in which something goes wrong."""

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def gone(pid: int, patience: float = 10.0) -> bool:
    """Whether the process ends, and is reaped, before patience does."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def plan_with_fault(
    client: SolverClient, name: str, limit: float = LIMIT
) -> tuple[Plan, list[MutableMapping[str, Any]], float]:
    """The plan for a gang of that name, what was logged, and the seconds that it took."""
    began = time.monotonic()
    with capture_logs() as logs:
        plan = client.plan(snapshot(name, "other", limit=limit))
    return plan, logs, time.monotonic() - began


def errands_end() -> bool:
    """Whether dropped background tasks end soon."""
    until = time.monotonic() + 5
    while any(thread.name == "errand" for thread in threading.enumerate()):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
