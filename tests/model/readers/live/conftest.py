"""What is the same in all tests of the incremental reader."""

from __future__ import annotations

import pytest

from fourleaf.model.readers.live import fabric_cache


@pytest.fixture(autouse=True)
def maps_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let devices go as soon as no map names them: reading all at once knows none that were."""
    monkeypatch.setattr(fabric_cache, "UNMAPPED_SECONDS", 0.0)
    monkeypatch.setattr(fabric_cache, "LEAST_OF_MAPS", 0)
