"""The benchmark of a backlog counts what it says."""

from __future__ import annotations

import pytest

from benchmarks import steady


@pytest.mark.deep
async def test_a_small_backlog_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 32 nodes, four cases; where nothing happens there is no cycle."""
    monkeypatch.setattr(steady, "CALM_SECONDS", 0.3)
    rows = {row[0]: row for row in await steady.measured(32, 4, 1, 0.2, 1)}
    assert list(rows) == ["first", "ended", "idle", "config"]
    assert "bound after" in rows["first"][-1]
    assert int(rows["ended"][1]) >= 1
    assert rows["idle"][1] == "0"
