"""What is known of the cluster never goes back in time."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cache import cluster_cache
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS, JOBS, NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_nodes, gang, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.informers import Put, Removed, Replaced
from fourleaf.k8s_bridge.ledger.records import Member
from tests.twins.virtual_clock import VirtualClock


@pytest.fixture
def cache() -> ClusterCache:
    """Nothing known yet."""
    return ClusterCache(VirtualClock())


async def made(cluster: MemoryCluster, name: str) -> tuple[Body, Target]:
    """A pod, as a watch shows it, and its name."""
    (target,) = await submit(cluster, "ml", [pod(name, 1)])
    return await cluster.get(PODS, target), target


async def test_a_list_does_not_undo_what_the_watch_brought(cache: ClusterCache) -> None:
    """A pod that is newer than a list stays although the list lacks it; an older one is gone."""
    cluster = MemoryCluster()
    old, old_target = await made(cluster, "old")
    listing = await cluster.list(PODS)
    new, new_target = await made(cluster, "new")
    for body in (old, new):
        cache.on_change(PODS, Put(body))
    cache.on_change(PODS, Replaced([], listing.version, PODS))
    assert cache.seen(old_target.uid) is None
    assert cache.seen(new_target.uid) is not None
    assert [str(gang.key) for gang in cache.reading().snapshot.gangs] == ["ml/new"]


async def test_an_older_list_is_left_out(cache: ClusterCache) -> None:
    """A list from before the one that was taken for complete brings nobody back."""
    cluster = MemoryCluster()
    body, target = await made(cluster, "a")
    before = await cluster.list(PODS)
    await cluster.delete(PODS, target)
    cache.take_all(PODS, await cluster.list(PODS))
    cache.on_change(PODS, Replaced(before.items, before.version, PODS))
    assert cache.seen(target.uid) is None
    cache.on_change(PODS, Put(body))
    assert cache.seen(target.uid) is None


@pytest.mark.parametrize("kind", [NODES, JOBS])
async def test_an_object_of_any_kind_never_goes_back(cache: ClusterCache, kind: Kind) -> None:
    """An answer that is older than what the watch brought is left out; a newer one is taken."""
    for version, known in (("12", "12"), ("11", "12"), ("13", "13")):
        metadata = {"name": "n", "uid": "u", "resourceVersion": version}
        cache.take(kind, {"metadata": metadata, "spec": {}, "status": {}})
        ((_, body),) = cache.objects[kind].items()
        assert body["metadata"]["resourceVersion"] == known


async def test_what_we_bound_stays_bound_until_the_watch_says_so(cache: ClusterCache) -> None:
    """A change of the pod that was written before our binding does not unbind it."""
    cluster = MemoryCluster()
    body, target = await made(cluster, "a")
    cache.on_change(PODS, Put(body))
    labelled = await cluster.patch(PODS, target, {"metadata": {"labels": {"a": "b"}}})
    cache.bound(Member(target, "n-0", (0,)))
    cache.on_change(PODS, Put(labelled))
    seen = cache.seen(target.uid)
    assert seen is not None
    assert (seen.node, seen.devices) == ("n-0", (0,))
    assert not cache.reading().snapshot.gangs


async def test_a_late_answer_about_the_first_pod_of_a_name_does_not_hide_the_second(
    cache: ClusterCache,
) -> None:
    """What a write of ours left of the first comes after the second, and before its end is told."""
    cluster = MemoryCluster()
    _, first = await made(cluster, "a")
    answer = await cluster.patch(PODS, first, {"metadata": {"labels": {"a": "b"}}})
    await cluster.delete(PODS, Target("ml", "a"))
    second, target = await made(cluster, "a")
    cache.on_change(PODS, Put(second))
    cache.took(answer)
    named = cache.named("ml", "a")
    assert named is not None
    assert named.pod.uid == target.uid
    assert cache.seen(first.uid) is None


async def test_a_pod_made_anew_is_another_pod(cache: ClusterCache) -> None:
    """The late deletion of the first pod of a name does not remove the second."""
    cluster = MemoryCluster()
    first, first_target = await made(cluster, "a")
    cache.on_change(PODS, Put(first))
    await cluster.delete(PODS, first_target)
    second, second_target = await made(cluster, "a")
    cache.on_change(PODS, Put(second))
    assert cache.seen(first_target.uid) is None
    cache.on_change(PODS, Removed(first))
    assert cache.seen(second_target.uid) is not None
    assert len(cache.reading().snapshot.gangs) == 1


async def test_an_answer_from_before_the_end_brings_nobody_back(cache: ClusterCache) -> None:
    """A list and a read that were under way when the watch told of a pod's end."""
    cluster = MemoryCluster()
    body, target = await made(cluster, "a")
    cache.on_change(PODS, Put(body))
    listing = await cluster.list(PODS)
    await cluster.delete(PODS, target)
    cache.on_change(PODS, Removed(body))
    cache.take_all(PODS, listing)
    assert cache.seen(target.uid) is None
    cache.took(body)
    assert cache.seen(target.uid) is None
    assert cache.reading().snapshot.gangs == ()
    (node,) = [await cluster.get(NODES, one) for one in await add_nodes(cluster, nodes(1, 1, 1))]
    cache.on_change(NODES, Put(node))
    cache.on_change(NODES, Removed(node))
    cache.take(NODES, node)
    assert not cache.usable(node["metadata"]["name"])


async def test_a_condition_that_we_have_written_starts_no_cycle(cache: ClusterCache) -> None:
    """The API answers with the whole pod: what lists do not carry of it is no change of it."""
    cluster = MemoryCluster()
    body = pod("p", 1)
    body["spec"]["containers"][0] |= {"image": "train:1", "env": [{"name": "A", "value": "b"}]}
    body["spec"]["serviceAccountName"] = "trainer"
    (target,) = await submit(cluster, "ml", [body])
    cache.take_all(PODS, await cluster.list(PODS))
    before = cache.reading().snapshot
    cache.changed.clear()
    status = {"status": {"conditions": [{"type": "PodScheduled", "status": "False"}]}}
    cache.take_written(PODS, await cluster.patch(PODS, target, status, "status"))
    (listed,) = (await cluster.list(PODS)).items
    assert cache.objects[PODS]["ml", "p"] == listed
    cache.on_change(PODS, Put(listed))
    assert not cache.changed.is_set()
    assert cache.reading().snapshot.gangs is before.gangs


@pytest.mark.parametrize("by_list", [False, True])
async def test_a_gang_waits_since_its_last_gate_went(by_list: bool) -> None:
    """Behind a gate of its own for an hour, a pod is no older than one that comes meanwhile."""
    clock = VirtualClock()
    cache, cluster = ClusterCache(clock), MemoryCluster(clock=clock)
    body = pod("gated", 1)
    body["spec"]["schedulingGates"] = [{"name": "example.org/later"}]
    (gated,) = await submit(cluster, "ml", [body])
    cache.on_change(PODS, Put(await cluster.get(PODS, gated)))
    await clock.advance(3600)
    _, honest = await made(cluster, "honest")
    cache.on_change(PODS, Put(await cluster.get(PODS, honest)))
    await clock.advance(60)
    await cluster.patch(PODS, gated, {"spec": {"schedulingGates": None}})
    if by_list:
        cache.take_all(PODS, await cluster.list(PODS))
    else:
        cache.on_change(PODS, Put(await cluster.get(PODS, Target("ml", "gated"))))
    ages = {gang.key.name: clock.wall() - gang.created for gang in cache.reading().snapshot.gangs}
    assert ages == {"gated": pytest.approx(0, abs=1), "honest": pytest.approx(60, abs=1)}


@pytest.mark.parametrize("deed", ["comes late", "makes no sense"])
async def test_a_gang_that_holds_itself_back_collects_no_age(deed: str) -> None:
    """For an hour its last member is not there, or says nonsense: then it is as old as new ones."""
    clock = VirtualClock()
    cache, cluster = ClusterCache(clock), MemoryCluster(clock=clock)
    bodies = gang("slow", 2, 1)
    nonsense = {"topology.scheduler/network-bandwidth": "much"}
    if deed == "makes no sense":
        bodies[1]["metadata"]["annotations"] = bodies[1]["metadata"]["annotations"] | nonsense
    for there in await submit(cluster, "ml", bodies if deed == "makes no sense" else bodies[:1]):
        cache.on_change(PODS, Put(await cluster.get(PODS, there)))
    assert cache.reading().snapshot.gangs[0].hold is not None
    await clock.advance(3600)
    if deed == "makes no sense":
        patch = {"metadata": {"annotations": dict.fromkeys(nonsense)}}
        await cluster.patch(PODS, Target("ml", "slow-1"), patch)
    else:
        await submit(cluster, "ml", bodies[1:])
    cache.on_change(PODS, Put(await cluster.get(PODS, Target("ml", "slow-1"))))
    (one,) = cache.reading().snapshot.gangs
    assert (one.hold, clock.wall() - one.created) == (None, pytest.approx(0, abs=1))
    await clock.advance(60)
    (one,) = cache.reading().snapshot.gangs
    assert clock.wall() - one.created == pytest.approx(60, abs=1)


async def test_what_others_call_their_gangs_is_nothing_to_a_tenant() -> None:
    """Two short gangs of one name, and a PodGroup that only the other has: missing, and no more."""
    cache, cluster = ClusterCache(VirtualClock()), MemoryCluster()
    group = {"metadata": {"name": "g"}, "spec": {"minMember": 1}}
    label = {"scheduling.x-k8s.io/pod-group": "g"}
    await submit(cluster, "ml", gang("one", 2)[:1])
    cache.take(COSCHEDULING_POD_GROUPS, await cluster.create(COSCHEDULING_POD_GROUPS, "ml", group))
    await submit(cluster, "other", [*gang("one", 2)[:1], pod("p", labels=label)])
    cache.take_all(PODS, await cluster.list(PODS))
    reading = cache.reading()
    details = {gang.hold.detail for gang in reading.snapshot.gangs if gang.hold}
    assert details == {"1 of 2 members exist", "PodGroup other/g does not exist"}
    assert not [one for one in reading.problems if one.field == "metadata.namespace"]


async def test_a_list_of_what_is_known_is_not_read(
    cache: ClusterCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two pods one has changed since the last list: it alone is read by the next one."""
    cluster = MemoryCluster()
    await made(cluster, "same")
    _, target = await made(cluster, "other")
    cache.take_all(PODS, await cluster.list(PODS))
    cache.reading()
    read: list[str] = []
    known = cluster_cache.pod_seen
    monkeypatch.setattr(
        cluster_cache, "pod_seen", lambda body: read.append(body["metadata"]["name"]) or known(body)
    )
    await cluster.patch(PODS, target, {"metadata": {"labels": {"a": "b"}}})
    cache.take_all(PODS, await cluster.list(PODS))
    assert read == ["other"]
    assert {str(gang.key) for gang in cache.reading().snapshot.gangs} == {"ml/same", "ml/other"}


class Sight:
    """A cache that may lose sight of one node, by a clock that is turned by hand."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cache = ClusterCache(self.clock)
        self._version = 0

    def put(self, ready: str = "Unknown") -> None:
        """The node is there, made anew where it was gone."""
        self.cache.on_change(NODES, Put(self.body(ready)))

    def body(self, ready: str) -> Body:
        """The node in its next version."""
        self._version += 1
        (body,) = nodes(1, 1, 1)
        metadata = body["metadata"] | {"name": "n", "uid": f"u{self._version}"}
        metadata |= {"resourceVersion": str(self._version)}
        status = body["status"] | {"conditions": [{"type": "Ready", "status": ready}]}
        return body | {"metadata": metadata, "status": status}

    def list_none(self) -> None:
        """A list lacks the node."""
        self._version += 1
        self.cache.on_change(NODES, Replaced([], str(self._version), NODES))


def test_a_node_is_in_doubt_since_it_went_out_of_sight() -> None:
    """What else is written to it meanwhile makes that no longer; once it is ready it is over."""
    sight = Sight()
    sight.put()
    for pause, ready, doubted in [
        (40, "Unknown", True),
        (30, "Unknown", False),
        (0, "True", False),
        (0, "Unknown", True),
    ]:
        sight.clock.spend(pause)
        sight.put(ready)
        assert sight.cache.is_doubted("n") == doubted


@pytest.mark.parametrize("by_list", [False, True])
def test_a_node_that_was_gone_is_in_doubt_anew(by_list: bool) -> None:
    """It is made again an hour later, and not heard of at once."""
    sight = Sight()
    sight.put()
    if by_list:
        sight.list_none()
    else:
        sight.cache.on_change(NODES, Removed(sight.body("Unknown")))
    sight.clock.spend(3600)
    sight.put()
    assert sight.cache.is_doubted("n")


def test_a_node_that_is_withheld_is_not_in_doubt() -> None:
    """It is dead, or has not been well for long enough: what is on its way there is lost."""
    sight = Sight()
    sight.put()
    sight.cache.judge(frozenset({"n"}), {})
    assert not sight.cache.is_doubted("n")
