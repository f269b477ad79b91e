"""The simulation sees what it is there to see."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.simulation.run import run

TRIES = range(20, 60)
"""Seeds, one of which has to notice."""


def test_a_server_that_ignores_versions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no write is compared with a version, some law is broken, and its seed is told."""
    exact = MemoryStore.find_exact

    def loose(self: MemoryStore, kind: Kind, target: Target) -> StoredObject:
        return exact(self, kind, Target(target.namespace, target.name, target.uid))

    monkeypatch.setattr(MemoryStore, "find_exact", loose)
    for seed in TRIES:
        verdict = run(seed, "safety")
        if verdict.breaches:
            assert f"--seed {seed} --mode safety" in str(verdict)
            assert verdict.breaches[0].law in str(verdict)
            return
    pytest.fail("no seed noticed")
