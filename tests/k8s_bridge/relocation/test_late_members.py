"""Members that their controller makes anew late: whose places are kept, and for how long.

One spine of 4 leaves of 4 nodes. Places are kept for 300 s, and for 900 s while a controller is to
make the pods. 30 s are enough to find a node dead and to plan.
"""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import JOBS, LEASES, PODS, REPLICA_SETS, STATEFUL_SETS, Kind
from fourleaf.k8s_bridge.cluster.memory.actors import (
    GANG,
    GANG_SIZE,
    add_namespace,
    pod,
    submit,
)
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.relocation.pod_makers import REPLACE_SECONDS, lacking
from fourleaf.k8s_bridge.relocation.records import Purpose
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job


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


async def test_places_end_once_a_member_beside_them_has_gone(bench: Bench) -> None:
    """One of two is lost and its place kept; the other is deleted: both are planned afresh."""
    await lost(bench, 1, 2)
    assert await relocations(bench) == 1
    (stays,) = await bench.pods("g")
    await bench.cluster.delete(PODS, Target(TEAM, stays["metadata"]["name"]))
    await bench.clock.advance(5)
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
    bench.jobs.backoff = 7200.0
    bench.clock.set_wall(seconds)
    await bench.clock.advance(500)
    assert await relocations(bench) == 1
    await bench.clock.advance(410)
    assert not await relocations(bench)


async def test_a_leader_whose_clock_is_ahead_keeps_them(bench: Bench) -> None:
    """By an hour: it keeps the places for their 900 s from when it leads, and no longer."""
    await lost(bench, 1, 2)
    bench.jobs.backoff = 7200.0
    bench.tasks.pop().cancel()
    bench.clock.set_wall(3600.0)
    await bench.start("b")
    await bench.clock.advance(880)
    assert await relocations(bench) == 1
    await bench.clock.advance(60)
    assert not await relocations(bench)


@pytest.mark.parametrize("again", [False, True])
async def test_a_job_that_is_deleted_has_none(bench: Bench, again: bool) -> None:
    """Its places are free within seconds; the next Job of its name is another."""
    await lost(bench, 2, 2)
    assert await relocations(bench) == 1
    await bench.delete("g")
    if again:
        bench.jobs.backoff = 0.0
        await bench.submit("g", 2)
    await bench.clock.advance(5)
    assert not await relocations(bench)
    assert "RelocationGivenUp" not in await bench.reasons()
    assert len(await bench.places("g")) == (2 if again else 0)


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


@pytest.mark.parametrize("remade", [True, False], ids=["submitted again", "made smaller"])
async def test_a_smaller_job_waits_for_no_more_than_it_makes(bench: Bench, remade: bool) -> None:
    """Of a Job of four that lost its nodes two come: they start within seconds."""
    await lost(bench, 4, 4)
    assert await relocations(bench) == 1
    bench.jobs.backoff = 40.0
    if remade:
        await bench.delete("g")
        await bench.cluster.create(JOBS, TEAM, job("g", 2))
    else:
        fewer = {"spec": {"parallelism": 2, "completions": 2}}
        await bench.cluster.patch(JOBS, Target(TEAM, "g"), fewer)
    await bench.clock.advance(40)
    assert len(await bench.places("g")) == 2
    assert not await relocations(bench)


def maker(name: str, made: Any = "2026-01-01T00:00:00Z", owner: str = "", **spec: Any) -> Body:
    """A controller, made by one of the kind `owner`."""
    status = spec.pop("status", {})
    owners = [{"kind": owner, "controller": True}] if owner else []
    metadata = {"name": name, "uid": name, "creationTimestamp": made, "ownerReferences": owners}
    return {"metadata": metadata, "spec": spec, "status": status}


def to_make(pod: str, *made: tuple[Kind, Body], live: int = 0, since: float = 2e9) -> int | None:
    """How many pods these controllers are to make, after a pod of that name is gone."""
    objects = {kind: {(TEAM, body["metadata"]["name"]): body} for kind, body in made}
    for kind, body in made:
        objects[kind][TEAM, body["metadata"]["name"]] = body
    return lacking(Target(TEAM, pod, "u"), since, objects, lambda namespace, uid: live)


INDEXED = {"completionMode": "Indexed"}
FAILED = {"conditions": [{"type": "Failed", "status": "True"}]}
HAS_NOT_FAILED = {"conditions": [{"type": "Failed", "status": "False"}, None, "odd"]}


@pytest.mark.parametrize(
    ("spec", "number"),
    [
        ({}, 1),
        ({"parallelism": 8, "completions": 8}, 8),
        ({"parallelism": 8, "completions": 8, "status": {"succeeded": 3}}, 5),
        ({"parallelism": 8, "completions": 8, "status": {"failedIndexes": "1,3-5"}}, 4),
        ({"parallelism": 2, "completions": 8, "status": {"succeeded": 3}}, 2),
        ({"parallelism": 3, "status": {"succeeded": 1}}, 0),
        ({"parallelism": 3, "status": FAILED}, 0),
        ({"parallelism": 3, "status": HAS_NOT_FAILED}, 3),
        ({"parallelism": 3, "suspend": True}, 0),
    ],
)
def test_what_a_job_is_to_make(spec: dict[str, Any], number: int) -> None:
    """As many as run at once, but for those that have succeeded or failed for good."""
    assert to_make("g-0-x7k2p", (JOBS, maker("g", **INDEXED, **spec))) == number
    assert to_make("g-x7k2p", (JOBS, maker("g", **spec))) == number


@pytest.mark.parametrize(("kind", "pod"), [(REPLICA_SETS, "g-x7k2p"), (STATEFUL_SETS, "g-0")])
def test_what_replicas_are_to_be_made(kind: Kind, pod: str) -> None:
    """As many as are asked for, one where that is not said, but for those that live."""
    assert to_make(pod, (kind, maker("g", replicas=3))) == 3
    assert to_make(pod, (kind, maker("g", replicas=3)), live=2) == 1
    assert to_make(pod, (kind, maker("g"))) == 1
    assert to_make(pod, (kind, maker("g", replicas=0))) == 0


@pytest.mark.parametrize(
    ("pod", "kind", "name"),
    [
        ("llm-x7k2p-gpu-worker-abcde", JOBS, "llm"),
        ("train-worker-3", JOBS, "train"),
        ("app-web-0", REPLICA_SETS, "app"),
        ("g-x7k2p", STATEFUL_SETS, "g"),
        ("g-0-x7k2p", JOBS, "g"),
    ],
)
def test_names_that_a_maker_gives_to_no_pod(pod: str, kind: Kind, name: str) -> None:
    """A finished submitter, a ReplicaSet of a longer name, a Job without indexes: not the maker."""
    assert to_make(pod, (kind, maker(name, status=FAILED, replicas=0))) is None


def test_where_a_name_fits_two_the_larger_number_counts() -> None:
    """Job g has an index 0, and an older Job g-0 has ended: pod g-0-x7k2p is awaited."""
    ended, runs = maker("g-0", status=FAILED), maker("g", **INDEXED, parallelism=2)
    assert to_make("g-0-x7k2p", (JOBS, ended), (JOBS, runs)) == 2


@pytest.mark.parametrize(
    ("owner", "number"), [("JobSet", None), ("", 0), ("CronJob", 0), ("Deployment", 0)]
)
@pytest.mark.parametrize("end", ["failed", "deleted", "suspended"])
def test_what_a_job_set_makes_anew_has_not_ended(owner: str, number: int | None, end: str) -> None:
    """A JobSet deletes its failed Jobs and makes them again: nothing is known of their pods."""
    body = maker("g", owner=owner, **INDEXED, **({"suspend": True} if end == "suspended" else {}))
    if end == "failed":
        body["status"] = FAILED
    if end == "deleted":
        body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert to_make("g-0-x7k2p", (JOBS, body)) == number


@pytest.mark.parametrize(
    "made", ["2027-01-01T00:00:00Z", "soon", None, 7], ids=["later", "text", "none", "number"]
)
def test_one_that_was_made_since_is_another(made: Any) -> None:
    """A Job of the same name that is newer than the relocation, or says nonsense, is not it."""
    assert to_make("g-0-x7k2p", (JOBS, maker("g", made, **INDEXED)), since=1.79e9) is None


@pytest.mark.parametrize(("there", "number"), [("g", 1), ("other", 0), (None, 0), ("unread", None)])
def test_a_maker_that_was_known_and_is_gone_makes_none(
    there: str | None, number: int | None
) -> None:
    """A Job that was seen as g: still there, of another UID, gone, and where no Job may be read."""
    body = maker("g", **INDEXED)
    known = {(JOBS, TEAM, "g"): "g"}
    objects = {} if there == "unread" else {JOBS: {}}
    if there in ("g", "other"):
        objects[JOBS][TEAM, "g"] = {**body, "metadata": {**body["metadata"], "uid": there}}
    pod_gone = Target(TEAM, "g-0-x7k2p", "u")
    assert lacking(pod_gone, 2e9, objects, lambda namespace, uid: 0, known) == number


@pytest.mark.parametrize("gap", [0.0, 5.0, 30.0])
async def test_a_stateful_set_that_is_replaced_keeps_its_places(gap: float) -> None:
    """Four members move for one that is lost; their set is replaced under its name meanwhile.

    Its pods come to their places, beside a gang that waits for these, unless it is half a minute
    between the two requests.
    """
    bench = Bench(1, 2)
    await bench.start()
    await add_namespace(bench.cluster, TEAM)
    body = {"metadata": {"name": "s"}, "spec": {"replicas": 4}}
    first = (await bench.cluster.create(STATEFUL_SETS, TEAM, body))["metadata"]["uid"]
    await submit(bench.cluster, TEAM, [_of_set(number, first) for number in range(4)])
    await bench.clock.advance(5)
    (lost,) = (node for name, node in (await _places_of_set(bench)).items() if name == "s-0")
    bench.lose(lost)
    while len(await bench.events("Evicted")) < 4:
        await bench.clock.advance(0.1)
    await bench.submit("waits", 4)
    await bench.cluster.delete(STATEFUL_SETS, Target(TEAM, "s"))
    await bench.clock.advance(gap)
    second = (await bench.cluster.create(STATEFUL_SETS, TEAM, body))["metadata"]["uid"]
    await bench.clock.advance(5)
    bench.cluster.store.finish(TEAM, "s-0")
    await submit(bench.cluster, TEAM, [_of_set(number, second) for number in range(4)])
    await bench.clock.advance(60)
    assert len(await _places_of_set(bench)) == (0 if gap > REPLACE_SECONDS else 4)
    await bench.stop()


async def _places_of_set(bench: Bench) -> dict[str, str]:
    """Where the members of s stand, by name."""
    pods = (await bench.cluster.list(PODS, TEAM)).items
    members = {one["metadata"]["name"]: one["spec"].get("nodeName") for one in pods}
    return {name: node for name, node in members.items() if name.startswith("s-") and node}


def _of_set(number: int, owner: str) -> Body:
    """A member of the gang s, made by its StatefulSet."""
    body = pod(f"s-{number}", 8, annotations={GANG: "s", GANG_SIZE: "4"})
    made_by = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "controller": True}
    body["metadata"]["ownerReferences"] = [made_by | {"uid": owner}]
    return body


@pytest.mark.parametrize("odd", ["a", "-3", " ", "9-1", "1-", "5" * 5000, None, 7, ["1"]])
def test_odd_statuses_raise_nothing(odd: Any) -> None:
    """What cannot be read of the failed indexes counts for none."""
    status = {"failedIndexes": odd, "conditions": odd, "succeeded": odd if odd != 7 else "7"}
    spec = {**INDEXED, "parallelism": 4, "completions": 4, "status": status}
    assert to_make("g-0-x7k2p", (JOBS, maker("g", **spec))) == 4


async def test_the_live_pods_of_a_controller(bench: Bench) -> None:
    """Those that run or wait, and none that has ended, is ending or is gone, list or watch."""
    scheduler = await bench.start("b")
    cache = scheduler.cache
    await bench.submit("g", 3)
    uid = (await bench.cluster.get(JOBS, Target(TEAM, "g")))["metadata"]["uid"]
    assert cache.live_pods(TEAM, uid) == 3
    bench.jobs.backoff = 600.0
    first, second, _ = await bench.pods("g")
    bench.kubelets.finish(TEAM, [first["metadata"]["name"]])
    await bench.cluster.delete(PODS, Target(TEAM, second["metadata"]["name"]))
    await bench.clock.advance(1)
    assert cache.live_pods(TEAM, uid) == 1
    cache.take_all(PODS, await bench.cluster.list(PODS))
    assert cache.live_pods(TEAM, uid) == 1
    assert cache.live_pods(TEAM, "") == 0
    await add_namespace(bench.cluster, "others")
    forged = pod("forged", 0)
    forged["metadata"]["ownerReferences"] = first["metadata"]["ownerReferences"]
    await submit(bench.cluster, "others", [forged])
    await bench.clock.advance(1)
    assert cache.live_pods(TEAM, uid) == 1
