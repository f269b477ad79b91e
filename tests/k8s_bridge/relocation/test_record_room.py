"""Relocations that no Lease can hold: told when they are planned, before any pod is evicted."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import EVENTS
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.k8s_bridge.relocation import codec
from tests.k8s_bridge.relocation.bench import Bench


@pytest.fixture
def _no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Lease holds relocations of one seat in place of thousands."""
    real = codec.lease_body

    def limited(name: str, record: str, said: Any, *rest: Any) -> Any:
        if said[codec.CONTENT].count('"n-0-') > 4:
            raise BadRecord(f"lease {name} would hold 300000 bytes, above 256000")
        return real(name, record, said, *rest)

    monkeypatch.setattr(codec, "lease_body", limited)


async def told(bench: Bench) -> str:
    """All events."""
    return str((await bench.cluster.list(EVENTS)).items)


@pytest.mark.usefixtures("_no_room")
async def test_a_repair_that_has_no_room_says_so(bench: Bench) -> None:
    """Four pods of a gang of 8 would go next door: none does, and the gang is told why.

    Nor is the same plan made again and again.
    """
    await bench.submit("g", 8)
    uids = await bench.uids("g")
    bench.lose("n-0-0-2")
    await bench.clock.advance(62)
    assert await bench.uids("g") == uids
    assert "its repair has no room in a record: lease relocation-g-" in await told(bench)
    assert len(bench.solved.repairs) == 1


@pytest.mark.usefixtures("_no_room")
async def test_a_preemption_that_has_no_room_says_so(bench: Bench) -> None:
    """A gang of the highest priority would have 16 pods go: none does, and it is told why."""
    await bench.classes(low=1, high=10)
    await bench.submit("a", 16, priority="low")
    uids = await bench.uids("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(30)
    assert await bench.uids("a") == uids
    assert "above 256000: it would have 16 pods go" in await told(bench)


@pytest.mark.usefixtures("_no_room")
async def test_what_has_room_is_carried_out(bench: Bench) -> None:
    """One member of two is lost and finds its place, which takes one seat."""
    await bench.submit("g", 2)
    before = await bench.places("g")
    bench.lose(before[1])
    await bench.clock.advance(30)
    after = await bench.places("g")
    assert len(after) == 2
    assert after[1] != before[1]
