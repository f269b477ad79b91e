"""How fast the machine is at the moment: the time of a fixed piece of Python.

A shared machine is two and a half times as fast in one hour as in another, in CPU time as well.
"""

from __future__ import annotations

import time

STEPS = 100_000


def pace() -> float:
    """Seconds of CPU that `STEPS` steps of integer arithmetic take."""
    start = time.process_time()
    total = 0
    for step in range(STEPS):
        total += step * step % 7
    return time.process_time() - start
