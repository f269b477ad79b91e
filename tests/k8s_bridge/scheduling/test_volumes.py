"""Volumes that are made on first use: selected, awaited, taken back; no member starts before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress

import pytest

from fourleaf.k8s_bridge.cache.claimed_volumes import ClaimedVolumes
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.errors import AlreadyExists
from fourleaf.k8s_bridge.cluster.kinds import (
    EVENTS,
    NODES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
)
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.volumes.volume_provisioning import (
    LONGEST_LOOK_SECONDS,
    MOST_CLAIMS_REMEMBERED,
    PROVISION_LIMIT_SECONDS,
    RETRY_LIMIT_SECONDS,
    NoVolumes,
    VolumePatience,
    VolumeProvisioner,
)
from fourleaf.model.readers.pods.volumes import SELECTED_BY_US, SELECTED_NODE
from tests.k8s_bridge.test_scheduler import TEAM, Bench
from tests.twins.volume_provisioner import Provisioner


class StorageBench(Bench):
    """Two leaves of two nodes, a class `fast` whose volumes are made on first use."""

    def __init__(self) -> None:
        super().__init__()
        self.provisioner = Provisioner(self.cluster.store)
        self.tasks.append(asyncio.ensure_future(self.provisioner.run()))

    async def set_up(self) -> None:
        """Make the cluster, and start a scheduler."""
        for body in nodes(1, 2, 2):
            await self.cluster.create(NODES, "", body)
        await add_namespace(self.cluster, TEAM)
        fast = {"metadata": {"name": "fast"}, "provisioner": "disk.example.org"}
        await self.cluster.create(
            STORAGE_CLASSES, "", fast | {"volumeBindingMode": "WaitForFirstConsumer"}
        )
        await self.start()

    async def submit(self, name: str, size: int, nodes: Mapping[str, str] | None = None) -> None:
        """Submit a gang of which each member has a claim of its own, for these `nodes` alone."""
        bodies = gang(name, size)
        for body in bodies:
            pod = body["metadata"]["name"]
            claim = f"data-{pod}"
            spec = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
            # Those of pods that are made anew are there.
            with suppress(AlreadyExists):
                await self.cluster.create(
                    VOLUME_CLAIMS, TEAM, {"metadata": {"name": claim}, "spec": spec}
                )
            if nodes is not None:
                body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": nodes[pod]}
            volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
            body["spec"]["volumes"] = [volume]
        await submit(self.cluster, TEAM, bodies)

    async def selected(self, pods: Iterable[str]) -> dict[str, str]:
        """Pod -> the node that is selected for its claim."""
        found = {}
        for pod in pods:
            claim = await self.claim(f"data-{pod}")
            found[pod] = claim["metadata"].get("annotations", {}).get(SELECTED_NODE, "")
        return found

    async def claim(self, name: str) -> Body:
        """A claim as it is."""
        return await self.cluster.get(VOLUME_CLAIMS, Target(TEAM, name))


@pytest.fixture
async def bench() -> AsyncIterator[StorageBench]:
    """A cluster with storage and a scheduler."""
    bench = StorageBench()
    await bench.set_up()
    yield bench
    await bench.stop()


async def test_members_start_once_their_volumes_are_made(bench: StorageBench) -> None:
    """Each claim is told the node of its pod; 3 s later the volumes are there, and both start."""
    await bench.submit("g", 2)
    await bench.clock.advance(2)
    assert await bench.places() == {}
    await bench.clock.advance(15)
    places = await bench.places()
    assert set(places) == {"g-0", "g-1"}
    assert dict(bench.provisioner.selected) == {f"data-{pod}": places[pod] for pod in places}


async def test_members_that_share_a_claim_select_one_node(bench: StorageBench) -> None:
    """The data set of a training Job, whose volume takes 60 s: one node is selected, once.

    Then both start, each on its node.
    """
    bench.provisioner._seconds = 60
    spec = {"storageClassName": "fast", "accessModes": ["ReadWriteMany"]}
    await bench.cluster.create(VOLUME_CLAIMS, TEAM, {"metadata": {"name": "data"}, "spec": spec})
    members = gang("g", 2)
    for body in members:
        body["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    await submit(bench.cluster, TEAM, members)
    await bench.clock.advance(3)
    first = await bench.claim("data")
    await bench.clock.advance(50)
    later = await bench.claim("data")
    assert later["metadata"]["annotations"][SELECTED_NODE]
    assert later["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    await bench.clock.advance(30)
    assert len(await bench.places()) == 2


async def test_a_claim_follows_its_own_member(bench: StorageBench) -> None:
    """Two members change nodes while no volume is made: each claim is told the node of its pod.

    That another member of the gang is where it was to go before is as good as nothing.
    """
    bench.provisioner._seconds = 60.0
    first = {"g-0": "n-0-0-1", "g-1": "n-0-0-0"}
    await bench.submit("g", 2, first)
    await bench.clock.advance(10)
    assert await bench.selected(first) == first
    for name in first:
        await bench.cluster.delete(PODS, Target(TEAM, name))
    await bench.clock.advance(20)
    then = {"g-0": "n-0-0-0", "g-1": "n-0-0-1"}
    await bench.submit("g", 2, then)
    await bench.clock.advance(10)
    assert await bench.selected(then) == then


async def test_a_volume_that_cannot_be_made_sends_the_gang_elsewhere(bench: StorageBench) -> None:
    """One node has no room for volumes: no member starts beside it, none is evicted."""
    bench.provisioner.full = {"n-0-0-1"}
    await bench.submit("g", 2)
    await bench.clock.advance(15)
    assert await bench.places() == {}
    assert "no volume for PersistentVolumeClaim ml/data-g-" in str(
        (await bench.cluster.list(EVENTS)).items
    )
    bench.provisioner.full = ()
    await bench.clock.advance(120)
    assert len(await bench.places()) == 2


async def test_a_volume_that_never_comes_frees_the_nodes(bench: StorageBench) -> None:
    """After ten minutes the gang goes back, and its claims may be for any node again."""
    bench.provisioner._seconds = 10 * PROVISION_LIMIT_SECONDS
    await bench.submit("g", 2)
    await bench.clock.advance(5)
    assert (await bench.claim("data-g-0"))["metadata"]["annotations"][SELECTED_NODE]
    for body in nodes(1, 2, 2):
        cordoned = {"spec": {"unschedulable": True}}
        await bench.cluster.patch(NODES, Target("", body["metadata"]["name"]), cordoned)
    await bench.clock.advance(PROVISION_LIMIT_SECONDS + LONGEST_LOOK_SECONDS)
    assert await bench.places() == {}
    said = str((await bench.cluster.list(EVENTS)).items)
    assert "has no volume for" in said
    assert "after 600 s: provisioner disk.example.org has not answered" in said
    for name in ("data-g-0", "data-g-1"):
        assert not (await bench.claim(name))["metadata"].get("annotations")


@pytest.mark.parametrize("how", ["deleted", "lost", "refused"])
async def test_one_volume_that_cannot_come_frees_all_nodes(bench: StorageBench, how: str) -> None:
    """Another gang has the four nodes within seconds, while the other claim is awaited yet."""
    bench.provisioner._seconds = 100_000
    await bench.submit("g", 2)
    await bench.clock.advance(5)
    claim = Target(TEAM, "data-g-0")
    if how == "deleted":
        await bench.cluster.delete(VOLUME_CLAIMS, claim)
    elif how == "lost":
        gone = {"status": {"phase": "Lost"}}
        await bench.cluster.patch(VOLUME_CLAIMS, claim, {"spec": {"volumeName": "pv-x"}})
        await bench.cluster.patch(VOLUME_CLAIMS, claim, gone, "status")
    else:
        refused = {"metadata": {"annotations": {SELECTED_NODE: None}}}
        await bench.cluster.patch(VOLUME_CLAIMS, claim, refused)
    await submit(bench.cluster, TEAM, gang("other", 4))
    await bench.clock.advance(40)
    assert "other-0" in await bench.places()


@pytest.mark.parametrize("led", [True, False])
async def test_a_volume_that_came_for_another_node(
    bench: StorageBench, monkeypatch: pytest.MonkeyPatch, led: bool
) -> None:
    """The leader asks the API, or one takes over after it: the gang goes back, and to its node."""
    if led:
        # The watch of claims lags behind the API.
        monkeypatch.setattr(ClaimedVolumes, "provisioned", lambda *_: [])
    bench.provisioner._seconds = 10 * PROVISION_LIMIT_SECONDS
    await bench.submit("g", 1)
    await bench.clock.advance(5)
    node = (await bench.claim("data-g-0"))["metadata"]["annotations"][SELECTED_NODE]
    other = next(name for one in nodes(1, 2, 2) if (name := one["metadata"]["name"]) != node)
    if not led:
        bench.tasks[-1].cancel()
        await bench.clock.advance(1)
    await bench.cluster.create(VOLUMES, "", only_on(other))
    bound = {"spec": {"volumeName": "late"}, "status": {"phase": "Bound"}}
    for subresource in ("", "status"):
        await bench.cluster.patch(VOLUME_CLAIMS, Target(TEAM, "data-g-0"), bound, subresource)
    if not led:
        await bench.start("b")
    await bench.clock.advance(120)
    assert await bench.places() == {"g-0": other}
    assert f"PersistentVolume late cannot be reached from {node}" in str(
        (await bench.cluster.list(EVENTS)).items
    )


class OfOneClaim(NoVolumes):
    """Every pod uses claim c, which has no volume yet."""

    def unprovisioned(self, _pod: Target, /) -> list[Target]:
        """The claim."""
        return [Target(TEAM, "c")]


async def test_what_was_selected_for_another_stays(bench: StorageBench) -> None:
    """Two pods share a claim: who goes back takes its own node off, and no other.

    Nor one that another scheduler has selected, though it is the same.
    """
    ours = dict.fromkeys((SELECTED_NODE, SELECTED_BY_US), "n-0-1-1")
    metadata = {"name": "c", "annotations": ours}
    await bench.cluster.create(VOLUME_CLAIMS, TEAM, {"metadata": metadata, "spec": {}})
    cache, patience = ClusterCache(bench.clock), VolumePatience()
    provisioner = VolumeProvisioner(bench.cluster, OfOneClaim(), cache, bench.clock, patience)
    await provisioner.release(Member(Target(TEAM, "p"), "n-0-0-0"))
    assert (await bench.claim("c"))["metadata"]["annotations"] == ours
    await provisioner.release(Member(Target(TEAM, "p"), "n-0-1-1"))
    assert not (await bench.claim("c"))["metadata"].get("annotations")
    theirs = {SELECTED_NODE: "n-0-1-1"}
    patch = {"metadata": {"annotations": theirs}}
    await bench.cluster.patch(VOLUME_CLAIMS, Target(TEAM, "c"), patch)
    await provisioner.release(Member(Target(TEAM, "p"), "n-0-1-1"))
    assert (await bench.claim("c"))["metadata"]["annotations"] == theirs


async def test_a_node_that_another_scheduler_has_selected(bench: StorageBench) -> None:
    """The gang goes there; where another is selected meanwhile, back, and there then."""
    bench.provisioner._seconds = 60.0
    spec = {"storageClassName": "fast", "accessModes": ["ReadWriteMany"]}
    metadata = {"name": "data-g-0", "annotations": {SELECTED_NODE: "n-0-1-1"}}
    await bench.cluster.create(VOLUME_CLAIMS, TEAM, {"metadata": metadata, "spec": spec})
    await bench.submit("g", 1)
    await bench.clock.advance(5)
    assert await bench.selected(["g-0"]) == {"g-0": "n-0-1-1"}
    for node in ("n-0-0-0", "n-0-1-0"):
        patch = {"metadata": {"annotations": {SELECTED_NODE: node}}}
        await bench.cluster.patch(VOLUME_CLAIMS, Target(TEAM, "data-g-0"), patch)
        await bench.clock.advance(20)
        assert await bench.selected(["g-0"]) == {"g-0": node}
    await bench.clock.advance(120)
    assert await bench.places() == {"g-0": "n-0-1-0"}
    assert "another scheduler has selected n-0-0-0" in str((await bench.cluster.list(EVENTS)).items)


def only_on(node: str) -> Body:
    """A volume of one host."""
    host = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    terms = [{"matchExpressions": [host]}]
    spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    return {"metadata": {"name": "late"}, "spec": spec, "status": {"phase": "Bound"}}


async def test_a_leader_that_takes_over_goes_on_waiting(bench: StorageBench) -> None:
    """The first one dies while the volumes are made; the second one binds once they are."""
    bench.provisioner._seconds = 60.0
    await bench.submit("g", 2)
    await bench.clock.advance(5)
    bench.tasks[-1].cancel()
    await bench.start("b")
    await bench.clock.advance(120)
    assert set(await bench.places()) == {"g-0", "g-1"}
    assert len(bench.provisioner.selected) == 2


async def test_a_gang_whose_volume_never_comes_lets_others_run(bench: StorageBench) -> None:
    """After ten minutes, and a look, it stands back for a minute: another takes all nodes then.

    When that one has ended, the first holds the nodes for a minute, not for ten.
    """
    bench.provisioner._seconds = 100 * PROVISION_LIMIT_SECONDS
    await bench.submit("g", 4)
    await bench.clock.advance(30)
    await submit(bench.cluster, TEAM, gang("other", 4))
    await bench.clock.advance(PROVISION_LIMIT_SECONDS - 40)
    assert await bench.places() == {}
    await bench.clock.advance(20 + LONGEST_LOOK_SECONDS)
    assert set(await bench.places()) == {f"other-{i}" for i in range(4)}
    bench.kubelets.finish(TEAM, [f"other-{i}" for i in range(4)])
    await bench.clock.advance(RETRY_LIMIT_SECONDS + 5)
    assert (await bench.claim("data-g-0"))["metadata"]["annotations"][SELECTED_NODE]
    await submit(bench.cluster, TEAM, gang("third", 4))
    await bench.clock.advance(RETRY_LIMIT_SECONDS + 20)
    assert {f"third-{i}" for i in range(4)} <= set(await bench.places())


async def test_a_gang_whose_volume_never_comes_steps_back(bench: StorageBench) -> None:
    """Nodes that are free after its first ten minutes are not taken again for a minute.

    Whoever comes half a minute later starts at once.
    """
    bench.provisioner._seconds = 100 * PROVISION_LIMIT_SECONDS
    await bench.submit("g", 4)
    await bench.clock.advance(PROVISION_LIMIT_SECONDS + 30)
    await submit(bench.cluster, TEAM, gang("late", 4))
    await bench.clock.advance(5)
    assert set(await bench.places()) == {f"late-{i}" for i in range(4)}


async def test_volumes_of_neighbours_do_not_make_one_that_never_comes_awaited_longer(
    bench: StorageBench,
) -> None:
    """Volumes of the same class come for others every 200 s, and one gang's never does.

    Its nodes idle for its first ten minutes; then it stands back for as long as it is awaited, so
    half of the time until an hour has passed.
    """
    look = bench.provisioner._look

    def healthy(record: StoredObject) -> None:
        if not record.whole()["metadata"]["name"].startswith("data-g-"):
            look(record)

    bench.provisioner._look = healthy  # type: ignore[method-assign] # a driver that skips one
    await bench.submit("g", 3)
    idle, looks = 0, 0
    for second in range(0, 3600, 20):
        if second % 200 == 100:
            await bench.submit(f"ok{second}", 1)
        if second % 200 == 180:
            bench.kubelets.finish(TEAM, [f"ok{second - 80}-0"])
        await bench.clock.advance(20)
        if second >= PROVISION_LIMIT_SECONDS:
            annotations = (await bench.claim("data-g-0"))["metadata"].get("annotations") or {}
            idle, looks = idle + (SELECTED_NODE in annotations), looks + 1
    assert idle / looks < 0.6


def test_patience_with_volumes() -> None:
    """Ten minutes, then one, two, four, eight, and ten from then on; ten again once one has come.

    Sixteen claims of one attempt are one failure, and other namespaces and classes are not
    concerned.
    """
    patience, source = VolumePatience(), ("ml", "fast")
    limits = []
    for _ in range(7):
        limits.append(patience.limit(source, "claim-3"))
        for number in range(16):
            patience.failed(source, f"claim-{number}", limits[-1], f"uid-{number}")
        assert patience.stand_back("uid-3") == patience.limit(source, "claim-3")
        assert patience.stand_back("uid-3") == 0.0
    assert limits == [600, 60, 120, 240, 480, 600, 600]
    assert patience.limit(("ops", "fast"), "else") == patience.limit(("ml", "slow"), "new") == 600
    patience.made(source, "claim-3")
    assert patience.limit(source, "claim-3") == 600


def test_a_claim_remembers_its_own_failures() -> None:
    """A neighbour's volume comes: others of the class are awaited for long, this one is not."""
    patience, source = VolumePatience(), ("ml", "fast")
    patience.failed(source, "bad", 600.0, "uid-bad")
    assert patience.limit(source, "good") == 60
    patience.made(source, "good")
    assert (patience.limit(source, "good"), patience.limit(source, "bad")) == (600, 60)
    patience.failed(source, "bad", 60.0, "uid-bad")
    assert (patience.limit(source, "good"), patience.limit(source, "bad")) == (600, 120)


def test_so_many_claims_are_remembered_at_most() -> None:
    """Of one claim too many, the one that failed first is forgotten."""
    patience, source = VolumePatience(), ("ml", "fast")
    for number in range(MOST_CLAIMS_REMEMBERED + 1):
        patience.failed(source, f"claim-{number}", 600.0, "uid")
    patience.made(source, "another")
    assert patience.limit(source, "claim-0") == 600
    assert patience.limit(source, "claim-1") == 60
