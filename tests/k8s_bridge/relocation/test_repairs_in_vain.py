"""Repairs for which there is no place: they cost nothing until something has changed.

The fabric is one spine of 4 leaves of 4 nodes.
"""

from __future__ import annotations

from tests.k8s_bridge.relocation.bench import Bench


async def test_what_cannot_be_repaired_is_planned_again_once_room_has_come(bench: Bench) -> None:
    """A gang of 12 loses a node, four pods have the others: solved again as soon as one ends."""
    await bench.submit("a", 12)
    for number in range(4):
        await bench.submit(f"other-{number}", 1)
    bench.lose((await bench.places("a"))[0])
    await bench.clock.advance(60)
    before = len(bench.solved.repairs)
    await bench.clock.advance(300)
    assert len(bench.solved.repairs) == before
    assert "NotRepaired" in await bench.reasons()
    await bench.end("other-0")
    await bench.clock.advance(15)
    assert len(await bench.places("a")) == 12


async def test_who_waits_for_its_nodes_is_planned_for_once(bench: Bench) -> None:
    """Its repair policy is `wait`: no plan can do anything for it."""
    await bench.submit("a", 4, repair_policy="wait")
    bench.lose((await bench.places("a"))[0])
    await bench.clock.advance(60)
    before = len(bench.solved.repairs)
    await bench.clock.advance(300)
    assert len(bench.solved.repairs) == before <= 2


async def test_the_end_of_pods_that_may_not_move_is_room(bench: Bench) -> None:
    """Four gangs of one leaf each, one of which loses a node: it moves once another has ended."""
    for name in "abcd":
        await bench.submit(name, 4, movable="false")
    bench.lose((await bench.places("a"))[0])
    await bench.clock.advance(60)
    before = len(bench.solved.repairs)
    await bench.clock.advance(100)
    assert len(bench.solved.repairs) == before
    leaves = await bench.leaves("b")
    await bench.end("b")
    await bench.clock.advance(15)
    assert await bench.leaves("a") == leaves
