"""How much of one namespace is read again, however often a tenant has its objects change."""

from __future__ import annotations

from collections import Counter

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.live import fabric_cache, gang_reads, pod_cache, read_allowance
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from tests.model.readers.live.test_live import NOW, reader, tell
from tests.model.readers.made import Body, node, owned, owner, pod

EXPECTED = "topology.scheduler/expected-duration"


def replica_set(said: str) -> Body:
    """Make an owner of pods, which says how long they run."""
    body = owner("ReplicaSet", "apps/v1", "web")
    body["metadata"]["annotations"] = {EXPECTED: said}
    return body


def inventory(name: str, turn: int) -> Body:
    """Make an inventory of one device, which is healthy each other time."""
    gpus = [{"index": 0, "uuid": "u", "healthy": turn % 2 == 1}]
    return owner("GpuNodeStatus", "gpu.scheduling/v1", name) | {"status": {"gpus": gpus}}


BARE = node("cpu", status={"allocatable": {"cpu": "64", "pods": "110"}})
"""A node without a device plugin."""


def mapped(devices: str) -> Body:
    """Make a pod whose map names `devices` of that node."""
    return pod("m-0", 0, annotations={"gpu-scheduling-map": f"0=cpu:{devices}"})


def counted_fabrics(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Note each fabric that is made."""
    built: list[object] = []
    read = fabric_cache.read_fabric
    monkeypatch.setattr(fabric_cache, "read_fabric", lambda *of: built.append(of) or read(*of))
    return built


@pytest.fixture(autouse=True)
def maps_at_once() -> None:
    """Here they are not: how long what they name counts, and how often it may change, is tested."""


@pytest.fixture
def allowance(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Let 20 pods of a namespace be read again a second; count what is read, by initials."""
    monkeypatch.setattr(read_allowance, "READS_A_SECOND", 20.0)
    monkeypatch.setattr(read_allowance, "MOST_READS", 20.0)
    read, counts = pod_cache.read_pod, Counter[str]()
    monkeypatch.setattr(
        pod_cache, "read_pod", lambda *given: counts.update([given[1][:1]]) or read(*given)
    )
    return counts


def test_who_changes_all_the_time_is_read_again_now_and_then(allowance: Counter[str]) -> None:
    """Thirty pods of an owner that changes each 50 ms: of 200 changes, four are read in 10 s.

    Each costs thirty pods and thirty gangs of one, which is what three seconds allow. Pods of
    others are read in each reading, and what the owner said last is read in the end.
    """
    pods = [owned(pod(f"w-{i}"), "ReplicaSet", "web", "apps/v1") for i in range(30)]
    made = reader(node(), replica_set("1s"), *pods)
    made.reading(NOW)
    allowance.clear()
    for turn in range(200):
        tell(made, replica_set(f"{turn + 2}s"))
        tell(made, pod(f"other-{turn}", namespace="other"))
        reading = made.reading(NOW + turn / 20)
        assert GangKey("other", f"other-{turn}") in {one.key for one in reading.snapshot.gangs}
    assert 2 * 30 <= allowance["w"] <= 4 * 60
    assert made.is_behind
    for later in (60, 63):
        made.reading(NOW + later)
    last = made.reading(NOW + 66).snapshot
    assert not made.is_behind
    assert {one.duration for one in last.gangs if one.key.namespace == "ml"} == {201.0}


def test_what_an_owner_says_is_charged_for_each_of_its_pods(allowance: Counter[str]) -> None:
    """Thirty pods of an owner of a thousand annotations cost eleven each: 330, of 20 + 200 in 10 s.

    To read them as they came was all that they may have until then.
    """
    said = {f"a{number}": "" for number in range(1_000)}

    def owner_saying(turn: int) -> Body:
        web = replica_set(f"{turn}s")
        web["metadata"]["annotations"] |= said
        return web

    pods = [owned(pod(f"w-{i}"), "ReplicaSet", "web", "apps/v1") for i in range(30)]
    made = reader(node(), owner_saying(1), *pods)
    made.reading(NOW)
    allowance.clear()
    for turn in range(200):
        tell(made, owner_saying(turn + 2))
        made.reading(NOW + turn / 20)
    assert allowance["w"] == 0
    made.reading(NOW + 60)
    assert allowance["w"] == 30


def test_owners_that_change_together_are_taken_in_one_after_the_other(
    allowance: Counter[str],
) -> None:
    """Ten owners of six pods: with 20 pods allowed the fourth owner is the last, so 24 are read."""
    owners = [owner("ReplicaSet", "apps/v1", f"web-{i}") for i in range(10)]
    names = [(f"w-{i}-{n}", f"web-{i}") for i in range(10) for n in range(6)]
    pods = [owned(pod(name), "ReplicaSet", web, "apps/v1") for name, web in names]
    made = reader(node(), *owners, *pods)
    made.reading(NOW)
    made.reading(NOW + 60)
    allowance.clear()
    for body in owners:
        said = {EXPECTED: "1s"}
        tell(made, body | {"metadata": body["metadata"] | {"annotations": said}})
    made.reading(NOW + 120)
    assert allowance["w"] == 24
    assert made.is_behind


def test_claims_of_volumes_and_devices_count_beside_pods(allowance: Counter[str]) -> None:
    """Ten owners of two pods that name 17 claims each: with 20 pods allowed, two owners are read.

    A pod that names more than are looked up has none looked up, and counts once.
    """
    names = [f"c{i}" for i in range(8)]
    named = [{"name": one, "resourceClaimName": one} for one in [*names, "last"]]
    volumes = [{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in names]
    owners = [owner("ReplicaSet", "apps/v1", f"web-{i}") for i in range(10)]
    pods = [
        owned(pod(f"w-{i}-{n}", volumes=volumes, resourceClaims=named), "ReplicaSet", f"web-{i}")
        for i in range(10)
        for n in range(2)
    ]
    many = [f"v{i}" for i in range(65)]
    crowded = [{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in many]
    others = [owned(pod(f"x-{n}", volumes=crowded), "ReplicaSet", "other") for n in range(19)]
    for one in (*pods, *others):
        one["metadata"]["ownerReferences"][0]["apiVersion"] = "apps/v1"
    made = reader(node(), *owners, owner("ReplicaSet", "apps/v1", "other"), *pods, *others)
    made.reading(NOW)
    for later in range(60, 600, 60):
        made.reading(NOW + later)
    allowance.clear()
    for body in owners:
        said = {EXPECTED: "1s"}
        tell(made, body | {"metadata": body["metadata"] | {"annotations": said}})
    made.reading(NOW + 1200)
    assert allowance["w"] == 2 * 2
    for later in range(1260, 1800, 60):
        made.reading(NOW + later)
    allowance.clear()
    for name in ("web-0", "other"):
        body = owner("ReplicaSet", "apps/v1", name)
        body["metadata"]["annotations"] = {EXPECTED: "2s"}
        tell(made, body)
    made.reading(NOW + 1860)
    assert (allowance["x"], allowance["w"]) == (19, 2)


@pytest.mark.usefixtures("allowance")
def test_who_changes_all_the_time_keeps_no_other_pod_from_being_read() -> None:
    """A pod that comes into the same namespace, beside thirty whose owner changes each 50 ms.

    What these are charged is over in three seconds, and then it is the turn of gangs.
    """
    pods = [owned(pod(f"w-{i}"), "ReplicaSet", "web", "apps/v1") for i in range(30)]
    made = reader(node(), replica_set("1s"), *pods)
    made.reading(NOW)
    came = found = 0
    for turn in range(200):
        tell(made, replica_set(f"{turn + 2}s"))
        if turn == 40:
            tell(made, pod("newcomer"))
            came = turn
        gangs = {one.key.name: one for one in made.reading(NOW + turn / 20).snapshot.gangs}
        if not found and "newcomer" in gangs:
            found = turn
    assert 0 < found - came <= 65
    assert gangs["w-0"].duration != 1.0


@pytest.mark.usefixtures("allowance")
def test_a_gang_that_changes_all_the_time_keeps_no_owner_from_being_read() -> None:
    """A gang of thirty of which a member changes each 50 ms has more read than the allowance has.

    What the owner of another pod says is read all the same, after the gang's turn.
    """
    some = {GANG: "g", GANG_SIZE: "30"}
    gang = [pod(f"m-{i}", 0, annotations=some) for i in range(30)]
    made = reader(
        node(), replica_set("1s"), owned(pod("w-0"), "ReplicaSet", "web", "apps/v1"), *gang
    )
    made.reading(NOW)
    found = 0
    for turn in range(400):
        tell(made, pod("m-0", 0, annotations=some | {EXPECTED: f"{turn + 1}s"}))
        if turn == 100:
            tell(made, replica_set("99s"))
        gangs = {one.key.name: one for one in made.reading(NOW + turn / 20).snapshot.gangs}
        if not found and turn >= 100 and gangs["w-0"].duration == 99.0:
            found = turn
    assert 100 < found <= 200


@pytest.mark.usefixtures("allowance")
def test_what_frees_room_or_takes_it_is_read_at_once() -> None:
    """However far behind the readings of a namespace are."""
    run, wait = pod("r", nodeName="n1", phase="Running"), pod("p")
    some = {GANG: "g", GANG_SIZE: "1"}
    many = [pod(f"m-{i}", 0, annotations=some) for i in range(99)]
    made = reader(node(), run, wait, *many)
    made.reading(NOW)
    tell(made, pod("m-0", 0, annotations=some | {"x": "y"}))
    made.reading(NOW)
    assert made.is_behind
    assert made.remove("", "Pod", "ml", "r")
    assert not made.reading(NOW).snapshot.running
    made.assume("uid-p", "n1")
    assert [one.name for one in made.reading(NOW).snapshot.running] == ["p"]
    made.release("uid-p")
    assert not made.reading(NOW).snapshot.running
    tell(made, pod("p", nodeName="n1"))
    assert [one.name for one in made.reading(NOW).snapshot.running] == ["p"]


@pytest.mark.usefixtures("allowance")
def test_maps_and_inventories_make_the_fabric_anew_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten nodes, a map and an inventory that say something else each 50 ms, for ten seconds.

    Each new fabric costs ten of the twenty nodes a second that the agent may have read again, and
    so may all maps: at most forty of 400 changes have one made. What was said last counts in
    the end, and a node is as it says itself at once.
    """
    monkeypatch.setattr(fabric_cache, "LEAST_OF_MAPS", 0)
    built = counted_fabrics(monkeypatch)
    made = reader(BARE, *(node(f"n{number}") for number in range(9)))
    made.reading(NOW)
    built.clear()
    for turn in range(200):
        tell(made, mapped(str(turn)))
        tell(made, inventory("n1", turn))
        made.reading(NOW + turn / 20)
    assert 10 <= len(built) <= 2 * 20 + 4
    assert made.is_behind
    tell(made, node("n2", "leaf-7"))
    assert made.reading(NOW + 10).snapshot.fabric.leaf_of["n2"] == 1
    tell(made, mapped("0,1,2"))
    made.reading(NOW + 10.01)
    made.reading(NOW + 61)
    last = made.reading(NOW + 62).snapshot.fabric.nodes
    assert not made.is_behind
    assert (last["cpu"].allocatable.gpus, last["n1"].allocatable.gpus) == (3, 1)


def test_a_map_that_comes_and_goes_makes_one_fabric(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pod names that is there ten times a second stays on the node, until a minute after."""
    built = counted_fabrics(monkeypatch)
    made = reader(BARE, node())
    made.reading(NOW)
    built.clear()
    for turn in range(1, 900):
        if turn % 2:
            tell(made, mapped("0,1"))
        else:
            made.remove("", "Pod", "ml", "m-0")
        fabric = made.reading(NOW + turn / 10).snapshot.fabric
        assert fabric.nodes["cpu"].allocatable.gpus == 2
    assert len(built) == 1
    made.remove("", "Pod", "ml", "m-0")
    made.reading(NOW + 90)
    assert made.reading(NOW + 149).snapshot.fabric.nodes["cpu"].allocatable.gpus == 2
    assert not made.is_behind
    assert made.reading(NOW + 151).snapshot.fabric.nodes["cpu"].allocatable.gpus == 0
    assert made.is_behind, "the next cycle is to look at the fabric as it is now"
    made.reading(NOW + 152)
    assert not made.is_behind


def test_maps_of_ever_more_devices_make_few_fabrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device more each 100 ms, for ten seconds: five fabrics at once, then one each 2.5 s."""
    built = counted_fabrics(monkeypatch)
    made = reader(BARE, node())
    made.reading(NOW)
    built.clear()
    for turn in range(100):
        tell(made, mapped(str(turn)))
        made.reading(NOW + turn / 10)
    assert len(built) == 5 + 3
    assert made.is_behind
    assert made.reading(NOW + 13).snapshot.fabric.nodes["cpu"].allocatable.gpus == 100


def test_a_clock_set_back_keeps_no_device_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that was named at noon, and no more, is gone once it is eleven again."""
    monkeypatch.setattr(fabric_cache, "LEAST_OF_MAPS", 0)
    made = reader(BARE, node(), mapped("0"))
    made.reading(NOW)
    made.remove("", "Pod", "ml", "m-0")
    assert made.reading(NOW).snapshot.fabric.nodes["cpu"].allocatable.gpus == 1
    assert made.reading(NOW - 3600).snapshot.fabric.nodes["cpu"].allocatable.gpus == 0


def test_nodes_that_are_none_are_kept_for_no_minute() -> None:
    """Maps name a thousand nodes that are not there, others each time: nothing is left of them."""
    made = reader(BARE, node())
    for turn in range(5):
        lines = "\n".join(f"{number}=gone-{turn}-{number}:0" for number in range(1_000))
        tell(made, pod("m-0", 0, annotations={"gpu-scheduling-map": lines}))
        made.reading(NOW + turn)
        made.remove("", "Pod", "ml", "m-0")
        made.reading(NOW + turn)
    assert not made._ground._mapped
    assert not made._ground._named


def test_a_node_that_is_made_anew_has_no_devices_of_the_one_before() -> None:
    """Its map has gone, and so has the node: the next one of its name has nothing yet."""
    made = reader(BARE, node(), mapped("0,1"))
    made.reading(NOW)
    made.remove("", "Pod", "ml", "m-0")
    made.reading(NOW + 1)
    made.remove("", "Node", "", "cpu")
    tell(made, BARE)
    assert made.reading(NOW + 2).snapshot.fabric.nodes["cpu"].allocatable.gpus == 0


def test_gangs_are_read_as_of_the_fabric_that_they_are_planned_on() -> None:
    """A node with other GPUs comes and goes twice: what a gang asks of nodes, one of them has."""
    made = reader(node(), pod("w-0"))
    other = node("n2")
    other["status"] = {"allocatable": {"amd.com/gpu": "8", "cpu": "64", "pods": "110"}}
    for turn in range(4):
        if turn % 2:
            made.remove("", "Node", "", "n2")
        else:
            tell(made, other)
        snapshot = made.reading(NOW + 5 * turn).snapshot
        ((role,),) = (gang.roles for gang in snapshot.gangs)
        assert role.constraint.selects(snapshot.fabric.nodes["n1"])


def test_lines_are_shared_out_again_where_a_device_of_their_node_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three pods have maps of `n1`: what a pod on `n2` is given concerns none of them."""
    maps = {name: f"{line}=n1:0" for line, name in enumerate(("wa", "wb", "wc"))}
    sharing = [pod(name, 1, annotations={"gpu-scheduling-map": maps[name]}) for name in maps]
    made = reader(node(), node("n2"), *sharing, pod("run-0", 1), pod("run-1", 1))
    made.reading(NOW)
    read, seen = gang_reads.read_gang, Counter[str]()
    monkeypatch.setattr(
        gang_reads, "read_gang", lambda *given: seen.update([given[0][2]]) or read(*given)
    )
    made.assume("uid-run-0", "n2", (0,))
    made.reading(NOW + 1)
    assert set(seen) == {"run-0"}
    made.assume("uid-run-1", "n1", (1,))
    made.reading(NOW + 2)
    # A gang of a map is called by it.
    assert len(seen.keys() - {"run-0", "run-1"}) == len(maps)
