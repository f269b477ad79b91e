"""What has survived a full collection that took long is not looked at again."""

from __future__ import annotations

import gc

import pytest

from fourleaf.k8s_bridge.runtime import garbage
from fourleaf.k8s_bridge.runtime.garbage import Survivors


@pytest.mark.parametrize(
    ("generation", "long", "frozen"), [(2, 0.0, True), (2, 60.0, False), (1, 0.0, False)]
)
def test_long_full_collections_freeze(
    monkeypatch: pytest.MonkeyPatch, generation: int, long: float, frozen: bool
) -> None:
    """Only those: what a short or a partial one leaves may be garbage soon."""
    monkeypatch.setattr(garbage, "LONG_COLLECTION_SECONDS", long)
    survivors, before = Survivors(), gc.get_freeze_count()
    try:
        for phase in ("start", "stop"):
            survivors(phase, {"generation": generation})
        assert (gc.get_freeze_count() > before) is frozen
    finally:
        if not before:
            gc.unfreeze()
