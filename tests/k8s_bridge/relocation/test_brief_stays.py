"""Gangs that others make way for and whose members end at once wait ever longer for the next."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.relocation.records import (
    SEAT_CLOSED,
    SEAT_GONE,
    VICTIMS_STAY,
    Leaver,
    Purpose,
    Relocation,
    Seat,
)
from fourleaf.k8s_bridge.relocation.tenants.brief_stays import BriefStays
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.small import WHOLE
from tests.twins.virtual_clock import VirtualClock

WINDOW = 300.0
GANG = GangKey(TEAM, "g")


async def test_a_gang_that_fails_as_soon_as_it_runs_has_ever_fewer_evicted() -> None:
    """`low` goes at 0, 300, 900 and 2100 s of an hour, and not every 300 s.

    The pods of `crash` fail within 3 s, and its Job makes them again 15 s later; meanwhile `low`
    has come back to all four nodes.
    """
    bench = Bench(1, 1)
    bench.jobs.backoff = 15.0
    await bench.classes(low=0, high=1000)
    await bench.start()
    await bench.submit("low", 4, priority="low", namespace="other")
    made = {one["metadata"]["uid"] for one in await bench.pods("low", namespace="other")}
    await bench.submit("crash", 4, priority="high")
    while bench.clock.monotonic() < 3600:
        for one in await bench.pods("crash"):
            if one["status"].get("phase") == "Running":
                bench.kubelets.finish(TEAM, [one["metadata"]["name"]], "Failed")
        await bench.clock.advance(3)
        made |= {one["metadata"]["uid"] for one in await bench.pods("low", namespace="other")}
    assert len(made) == 4 * (1 + 4)
    told = [event["note"] for event in await bench.events("PreemptionForbidden")]
    assert any("3 times in a row" in note and "mend what ends them" in note for note in told)
    await bench.stop()


class Pods:
    """Two members of a gang that pods were evicted for just now."""

    def __init__(self, node: str = "n-0-0-0") -> None:
        self.clock = VirtualClock()
        self.targets = [Target(TEAM, name, name, "1") for name in ("g-0", "g-1")]
        self.seen = {one.uid: PodSeen(one, node) for one in self.targets}
        self.objects: dict[Kind, dict[tuple[str, str], Any]] = {
            PODS: {(TEAM, one.name): {"status": {}} for one in self.targets},
            NODES: {("", "n-0-0-0"): {"spec": {}}},
        }
        cache = SimpleNamespace(seen=self.seen.get, objects=self.objects)
        self.stays = BriefStays(cast("ClusterCache", cache), self.clock)
        self.serve()

    def serve(self, why: str = "") -> None:
        """Both have places for which a pod of another gang has gone, or `why` they do not."""
        seats = tuple(Seat(one, (0, 0, 0), "", "n-0-0-0", WHOLE) for one in self.targets)
        gone = Leaver(Target("other", "low", "low", "1"), "n-0-0-0")
        self.stays.ended(Relocation(GANG, Purpose.PREEMPTION, seats, (gone,)), why)

    def end(self, number: int, phase: str) -> None:
        """A member comes to its end by itself."""
        one = self.targets[number]
        self.seen[one.uid] = PodSeen(one, "n-0-0-0", finished=True)
        self.objects[PODS][TEAM, one.name] = {"status": {"phase": phase}}

    async def wait(self, *open_: Relocation, dead: str = "") -> float:
        """Seconds for which no more are evicted for the gang, after a second more."""
        await self.clock.advance(1)
        self.stays.hear(open_, {dead}, WINDOW)
        return self.stays.wait(GANG, WINDOW)


def test_it_waits_for_a_day_at_most() -> None:
    """Twelve times in vain, of which the last would be 2^11 times five minutes, seven days."""
    pods = Pods()
    for _ in range(12):
        pods.stays.was_in_vain(GANG, WINDOW)
    assert pods.stays.wait(GANG, WINDOW) == 86_400


@pytest.mark.parametrize(("phases", "seconds"), [("FR", 299), ("SR", 0), ("SS", 299), ("RR", 0)])
async def test_one_that_fails_is_enough_and_one_that_succeeds_is_not(
    phases: str, seconds: int
) -> None:
    """Of two members F has failed, S has succeeded, R runs on: only with both over it counts."""
    pods = Pods()
    for number, phase in enumerate(phases):
        if phase != "R":
            pods.end(number, {"F": "Failed", "S": "Succeeded"}[phase])
    assert await pods.wait() == seconds


async def test_members_that_were_sent_away_or_lost_their_node_have_stayed() -> None:
    """Both are gone: one was evicted for another gang before, the other's node has died."""
    pods = Pods()
    leavers = tuple(Leaver(one, "n-0-0-0") for one in pods.targets[:1])
    higher = Relocation(GangKey("other", "h"), Purpose.PREEMPTION, (), leavers)
    assert await pods.wait(higher) == 0
    pods.seen["g-0"] = PodSeen(pods.targets[0], "n-0-0-0", deleting=True)
    assert await pods.wait(dead="n-0-0-0") == 0
    pods.seen.clear()
    assert await pods.wait() == 0


@pytest.mark.parametrize("how", ["cordoned", "node deleted", "disrupted"])
async def test_members_that_others_ended_have_stayed(how: str) -> None:
    """A drain, the end of a node and a kubelet under pressure end both, for which it never waits.

    A second before, their node was well.
    """
    pods = Pods()
    assert await pods.wait() == 0
    if how == "cordoned":
        pods.objects[NODES]["", "n-0-0-0"] = {"spec": {"unschedulable": True}}
    elif how == "node deleted":
        del pods.objects[NODES]["", "n-0-0-0"]
    else:
        disrupted = [{"type": "DisruptionTarget", "status": "True"}]
        for number, one in enumerate(pods.targets):
            pods.end(number, "Failed")
            pods.objects[PODS][TEAM, one.name]["status"]["conditions"] = disrupted
    if how != "disrupted":
        pods.seen.clear()
    assert await pods.wait() == 0


async def test_members_that_their_team_evicted_have_not_stayed() -> None:
    """Both ended by the eviction API, on a node that is not cordoned: its team may ask for that."""
    pods = Pods()
    evicted = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    for number, one in enumerate(pods.targets):
        pods.end(number, "Failed")
        pods.objects[PODS][TEAM, one.name]["status"]["conditions"] = [evicted]
    assert await pods.wait() == WINDOW - 1


async def test_who_has_stayed_once_waits_no_longer_than_at_first() -> None:
    """Twice in a row it waits for 300 and 600 s; then it runs for 300 s, and waits for 300 s."""
    pods = Pods()
    for times in (1, 2):
        pods.serve()
        pods.end(0, "Failed")
        assert await pods.wait() == pytest.approx(WINDOW * times - 1)
        await pods.clock.advance(WINDOW * times)
        pods.seen = {one.uid: PodSeen(one, "n-0-0-0") for one in pods.targets}
        pods.stays.cache.seen = pods.seen.get  # type: ignore[method-assign]
    pods.serve()
    await pods.clock.advance(WINDOW)
    assert await pods.wait() == 0
    pods.serve()
    pods.end(0, "Failed")
    assert await pods.wait() == pytest.approx(WINDOW - 1)


async def test_who_never_has_its_room_waits_ever_longer_and_it_alone() -> None:
    """Its members wait still: 300, 600, 1200 s, and the namespace of no other is held for it."""
    pods = Pods(node="")
    for times in (1, 2, 4):
        pods.serve("others have taken its places")
        assert await pods.wait() == pytest.approx(WINDOW * times - 1)
        assert pods.stays.wait(GangKey(TEAM, "another"), WINDOW) == 0
        await pods.clock.advance(WINDOW * times)
        assert await pods.wait() == 0


@pytest.mark.parametrize("why", [f"node n {SEAT_CLOSED}", f"node n {SEAT_GONE}", VICTIMS_STAY])
async def test_what_others_did_is_not_held_against_it(why: str) -> None:
    """A node was closed, or victims did not go: it may look for other places at once."""
    pods = Pods(node="")
    assert await pods.wait() == WINDOW - 1
    await pods.clock.advance(WINDOW)
    pods.serve(why)
    assert await pods.wait() == 0


async def test_who_waits_is_not_one_that_has_stayed() -> None:
    """Its bindings are refused for longer than 300 s, twice: it waits for 20 minutes after that."""
    pods = Pods(node="")
    for _ in range(2):
        await pods.clock.advance(660)
        assert await pods.wait() == 0
        pods.serve()
    assert await pods.wait() == 4 * WINDOW - 1
