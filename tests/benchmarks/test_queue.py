"""The benchmark of a long queue runs, in small."""

from __future__ import annotations

from benchmarks.queue import TURNS, measured
from fourleaf.solver.process.client import SolverClient


async def test_a_short_queue_is_measured() -> None:
    """Each case has its row: what has not changed is not solved again, what came is each time.

    All 20 gangs of two whole nodes wait to the end: half of every node is taken.
    """
    client = SolverClient()
    client.start()
    try:
        rows = {row[0]: row for row in await measured(client, 20, 40)}
    finally:
        client.close()
    assert list(rows) == ["looked at", "nothing", "came", "ended", "explained: 20 gangs"]
    assert (rows["nothing"][1], rows["came"][1]) == ("0", str(TURNS))
