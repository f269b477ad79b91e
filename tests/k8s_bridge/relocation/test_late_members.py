"""Members that their controller makes anew late: whose places are kept, and for how long.

One spine of 4 leaves of 4 nodes. Places are kept for 300 s, and for 900 s while a controller is to
make the pods. 30 s are enough to find a node dead and to plan.
"""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import JOBS, LEASES, PODS, REPLICA_SETS, STATEFUL_SETS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.relocation.pod_makers import PodMakers
from fourleaf.k8s_bridge.relocation.records import Purpose
from tests.k8s_bridge.relocation.bench import TEAM, Bench


async def relocations(bench: Bench) -> int:
    """How many are under way, reservations left out."""
    found = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    return sum(read_relocation(one).purpose is not Purpose.RESERVATION for one in found)


async def lost(bench: Bench, size: int, of: int) -> None:
    """Gang g of `of` members loses so many nodes, and its Job makes no pod for 600 s."""
    await bench.submit("g", of)
    bench.jobs.backoff = 600.0
    bench.lose(*list((await bench.places("g")).values())[:size])
    await bench.clock.advance(30)


@pytest.mark.parametrize(("size", "of"), [(1, 2), (2, 2), (1, 1)])
async def test_places_are_kept_while_the_job_backs_off(bench: Bench, size: int, of: int) -> None:
    """Ten minutes later the members come, and are bound at once although others wait for room."""
    await lost(bench, size, of)
    others = 16 - of - size
    for number in range(others + 1):
        await bench.submit(f"other-{number}", 1)
    await bench.clock.advance(500)
    assert await relocations(bench) == 1
    assert sum([len(await bench.places(f"other-{n}")) for n in range(others + 1)]) == others
    await bench.clock.advance(120)
    assert len(await bench.places("g")) == of
    assert not await relocations(bench)


async def test_the_next_leader_keeps_them_too(bench: Bench) -> None:
    """A leader that never saw the members knows their Job by its name."""
    await lost(bench, 2, 2)
    await bench.succeed("b")
    await bench.clock.advance(400)
    assert await relocations(bench) == 1
    await bench.clock.advance(220)
    assert len(await bench.places("g")) == 2


async def test_not_for_ever(bench: Bench) -> None:
    """A controller that makes no pod in 900 s has its places kept no longer, and that is told."""
    await lost(bench, 1, 2)
    bench.jobs.backoff = 3000.0
    await bench.clock.advance(840)
    assert await relocations(bench) == 1
    await bench.clock.advance(60)
    assert not await relocations(bench)
    assert "RelocationGivenUp" in await bench.reasons()


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
async def test_no_wall_clock_ends_it(bench: Bench, seconds: float) -> None:
    """One that is set forward or back by an hour keeps places for as long as one that is not."""
    await lost(bench, 1, 2)
    bench.clock.set_wall(seconds)
    await bench.clock.advance(500)
    assert await relocations(bench) == 1
    bench.jobs.backoff = 3000.0
    await bench.clock.advance(410)
    assert not await relocations(bench)


@pytest.mark.parametrize(
    "change",
    [
        {"status": {"conditions": [{"type": "FailureTarget", "status": "True"}]}},
        {"spec": {"suspend": True}},
        {"spec": {"parallelism": 1}},
    ],
)
async def test_a_job_that_makes_no_more_has_none(bench: Bench, change: Body) -> None:
    """A Job that failed, is suspended or is made smaller: at once, and nothing has gone wrong."""
    await lost(bench, 1, 2)
    assert await relocations(bench) == 1
    part = "status" if "status" in change else ""
    await bench.cluster.patch(JOBS, Target(TEAM, "g"), change, *filter(None, [part]))
    await bench.clock.advance(2)
    assert not await relocations(bench)
    assert "RelocationGivenUp" not in await bench.reasons()


def maker(name: str, made: str = "2026-01-01T00:00:00Z", **spec: Any) -> Body:
    """A controller."""
    status = spec.pop("status", {})
    metadata = {"name": name, "namespace": TEAM, "uid": name, "creationTimestamp": made}
    return {"metadata": metadata, "spec": spec, "status": status}


def makers(kind: Kind, *bodies: Body) -> PodMakers:
    """Controllers of one kind, without a pod."""
    return PodMakers({kind: {(TEAM, one["metadata"]["name"]): one for one in bodies}})


FAILED = {"conditions": [{"type": "Failed", "status": "True"}]}
HAS_FAILED_ONCE = {"conditions": [{"type": "Failed", "status": "False"}]}


@pytest.mark.parametrize(
    ("spec", "lacking"),
    [
        ({}, 1),
        ({"parallelism": 8, "completions": 8}, 8),
        ({"parallelism": 8, "completions": 8, "status": {"succeeded": 3}}, 5),
        ({"parallelism": 8, "completions": 8, "status": {"failedIndexes": "1,3-5"}}, 4),
        ({"parallelism": 2, "completions": 8, "status": {"succeeded": 3}}, 2),
        ({"parallelism": 3, "status": {"succeeded": 1}}, 0),
        ({"parallelism": 3, "status": FAILED}, 0),
        ({"parallelism": 3, "status": HAS_FAILED_ONCE}, 3),
        ({"parallelism": 3, "suspend": True}, 0),
    ],
)
def test_what_a_job_is_to_make(spec: dict[str, Any], lacking: int) -> None:
    """As many as run at once, but for those that have succeeded or failed for good."""
    found = makers(JOBS, maker("g", **spec)).lacking(Target(TEAM, "g-0-x7k2p", "u"), 2e9)
    assert found == lacking


@pytest.mark.parametrize("kind", [REPLICA_SETS, STATEFUL_SETS])
def test_what_replicas_are_to_be_made(kind: Kind) -> None:
    """As many as are asked for, one where that is not said."""
    pod = Target(TEAM, "g-x7k2p", "u")
    assert makers(kind, maker("g", replicas=3)).lacking(pod, 2e9) == 3
    assert makers(kind, maker("g")).lacking(pod, 2e9) == 1
    assert makers(kind, maker("g", replicas=0)).lacking(pod, 2e9) == 0


def test_the_pods_that_live_are_not_lacking() -> None:
    """Of three replicas one runs, one has failed, and one is being deleted: two are to come."""
    owners = [{"uid": "g", "controller": True}]
    pods: list[tuple[dict[str, Any], str]] = [
        ({"ownerReferences": owners}, "Running"),
        ({"ownerReferences": owners}, "Failed"),
        ({"ownerReferences": owners, "deletionTimestamp": "2026-01-01T00:00:00Z"}, "Running"),
    ]
    there = {
        (TEAM, f"g-{n}"): {"metadata": metadata, "status": {"phase": phase}}
        for n, (metadata, phase) in enumerate(pods)
    }
    objects = {REPLICA_SETS: {(TEAM, "g"): maker("g", replicas=3)}, PODS: there}
    assert PodMakers(objects).lacking(Target(TEAM, "g-9", "u"), 2e9) == 2


def test_whose_pod_it_is() -> None:
    """By the longest name that fits, made before; cut where the API server cuts it."""
    both = makers(JOBS, maker("train", parallelism=2), maker("train-0", parallelism=5))
    assert both.lacking(Target(TEAM, "train-0-x7k2p", "u"), 2e9) == 5
    assert both.lacking(Target(TEAM, "train-1-x7k2p", "u"), 2e9) == 2
    assert both.lacking(Target("other", "train-1-x7k2p", "u"), 2e9) is None
    assert both.lacking(Target(TEAM, "trainer-1", "u"), 2e9) is None
    later = makers(JOBS, maker("train", made="2027-01-01T00:00:00Z"))
    assert later.lacking(Target(TEAM, "train-1-x7k2p", "u"), 1.79e9) is None
    long = "n" * 60
    assert makers(JOBS, maker(long)).lacking(Target(TEAM, f"{long[:58]}x7k2p", "u"), 2e9) == 1
