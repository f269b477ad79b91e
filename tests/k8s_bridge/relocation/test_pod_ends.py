"""Pods that were told to end: for how long their room is waited for."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.ages import PodEnds
from fourleaf.k8s_bridge.relocation.evictions.ending_pods import EndingPods
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation
from tests.k8s_bridge.relocation.test_as_planned import GANG, body, cache
from tests.twins.virtual_clock import VirtualClock

LEAVER = Leaver(Target("ml", "g-0", "one"), "n-0")
ONE = Relocation(GANG, Purpose.PREEMPTION, (), (LEAVER,))


@pytest.mark.parametrize(("said", "seconds"), [(600, 600), (10**9, 3600), (None, 30), ("soon", 30)])
async def test_so_long_a_pod_may_end(said: Any, seconds: int) -> None:
    """Its grace period, an hour at most whatever a tenant states, and two minutes more."""
    clock, seen = VirtualClock(), cache()
    ending = body("one", 2, "n-0")
    ending["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    if said is not None:
        ending["metadata"]["deletionGracePeriodSeconds"] = said
    seen.take(PODS, ending)
    ends = PodEnds(seen, clock)
    assert not ends.overdue([ONE])
    await clock.advance(seconds + 119)
    assert not ends.overdue([ONE])
    await clock.advance(2)
    assert ends.overdue([ONE]) == {"one"}


@pytest.mark.parametrize(("said", "seconds"), [(200, 200), (600, 600), (10**9, 3600)])
async def test_so_long_its_room_is_to_come(said: int, seconds: int) -> None:
    """From 300 s before the end of its grace, of who was told by others; who is gone is forgotten.

    Not where its node is dead.
    """
    clock, seen = VirtualClock(), cache()
    seen.take(PODS, body("one", 1, "n-0"))
    ends = EndingPods(seen, clock)
    ends.listen()
    assert not ends.gone_soon(())
    ending = body("one", 2, "n-0")
    ending["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": said,
    }
    seen.take(PODS, ending)
    later = EndingPods(seen, clock)
    later.listen()
    if seconds > 300:
        await clock.advance(seconds - 301)
        assert not ends.gone_soon(())
        await clock.advance(1)
    (name,) = ends.gone_soon(())
    assert not ends.gone_soon({"n-0"})
    assert later.gone_soon(()) == {name}
    await clock.advance(min(seconds, 300) + 119)
    assert ends.gone_soon(()) == {name}
    await clock.advance(2)
    assert not ends.gone_soon(())
    ends.mute()
    later.mute()


async def test_a_change_of_who_ends_gives_it_no_more_time() -> None:
    """It has a finalizer, and is patched after a minute: 150 s are all that it has."""
    clock, seen = VirtualClock(), cache()
    ends = EndingPods(seen, clock)
    seen.take(PODS, body("one", 1, "n-0"))
    ends.listen()
    for version in (2, 3):
        ending = body("one", version, "n-0")
        ending["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z"}
        seen.take(PODS, ending)
        await clock.advance(60)
    assert ends.gone_soon(())
    await clock.advance(31)
    assert not ends.gone_soon(())
    ends.mute()
