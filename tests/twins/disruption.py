"""The disruption controller in memory: it says how many pods each budget lets go."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, PODS
from fourleaf.k8s_bridge.cluster.memory.budgets import counts
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore


class DisruptionController:
    """Writes the status of every budget, as far as it has changed."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def run(self, seconds: float = 0.5) -> None:
        """Look for ever."""
        while True:
            self.step()
            await self._store.clock.sleep(seconds)

    def step(self) -> None:
        """Look once."""
        for record in list(self._store.records(DISRUPTION_BUDGETS)):
            healthy, desired = counts(record, self._store.records(PODS, record.namespace))
            body = record.whole()
            status = {
                "observedGeneration": body["metadata"].get("generation", 0),
                "disruptionsAllowed": max(0, healthy - desired),
            }
            if body.get("status") != status:
                self._store.write(record, {**body, "status": status})
