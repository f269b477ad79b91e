"""A leader that dies anywhere in a commit leaves a gang that is bound as a whole or not at all."""

from __future__ import annotations

import contextlib

import pytest

from tests.k8s_bridge.ledger.harness import Death, Killed, Leader, World, on


async def writes_of_a_commit() -> int:
    """How many writes a leader makes from takeover to rest, without any fault."""
    world = await World().start()
    death = Death(at=0)
    leader = await Leader(world, "a", death).take_over()
    plan = [await world.gang("wide", on(0, 1)), await world.gang("narrow", on(2))]
    await leader.commit(*plan)
    await leader.rest()
    world.check(plan)
    return len(death.writes)


async def run_until_death(world: World, death: Death) -> list:  # type: ignore[type-arg]
    """Let a leader place a wide and a narrow gang until it dies; the gangs."""
    plan = [await world.gang("wide", on(0, 1)), await world.gang("narrow", on(2))]
    leader = Leader(world, "a", death)
    with contextlib.suppress(Killed):
        await leader.take_over()
        await leader.commit(*plan)
        await leader.rest()
    await leader.stop()
    return plan


@pytest.mark.parametrize("after", [False, True])
async def test_killed_at_every_write(after: bool) -> None:
    """Before and after each write: a successor finds all or nothing, and the rest can go on."""
    count = await writes_of_a_commit()
    assert count >= 4 + 3 + 2 + 12 + 3
    for at in range(1, count + 1):
        world = await World().start()
        plan = await run_until_death(world, Death(at, after))
        successor = await Leader(world, "b").take_over()
        await successor.rest()
        world.check(plan)
        unbound = [
            wanted for wanted in plan if world.true_pods.seen(wanted.members[0].pod.uid).node == ""
        ]
        await successor.commit(*unbound)
        await successor.rest()
        world.check(plan)
        assert all(body["spec"].get("nodeName") for body in world.pods())


@pytest.mark.parametrize("after", [False, True])
async def test_both_leaders_die(after: bool) -> None:
    """The successor dies too, at each write of its takeover; the third finds every gang whole."""
    for first in (9, 12, 15):
        for at in range(1, 16):
            world = await World().start()
            plan = await run_until_death(world, Death(first, after))
            second = Leader(world, "b", Death(at, after))
            with contextlib.suppress(Killed):
                await second.take_over()
                await second.rest()
            await second.stop()
            third = await Leader(world, "c").take_over()
            await third.rest()
            world.check(plan)
