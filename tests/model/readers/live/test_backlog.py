"""Thousands of pods that come at once are read in turns, by namespace, and nothing is lost."""

from __future__ import annotations

import math
import random

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.live import LiveReader, LiveReading
from fourleaf.model.readers.live.backlog import Backlog
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from tests.model.readers.live.test_live import NOW, reader, tell
from tests.model.readers.made import Body, node, pod


def waiting(reading: LiveReading) -> list[str]:
    """The gangs of a reading, as NAMESPACE/NAME."""
    return [str(one.key) for one in reading.snapshot.gangs]


def one_each(_: tuple[str, str]) -> int:
    """What an item costs where all cost the same."""
    return 1


def test_namespaces_take_turns() -> None:
    """Of five of `a`, two of `b` and one of `c`, four are taken: one each, and then one of `a`."""
    left: Backlog[tuple[str, str]] = Backlog()
    every = {*(("a", str(i)) for i in range(5)), ("b", "0"), ("b", "1"), ("c", "0")}
    assert left.take(every, 4, one_each) == {("a", "0"), ("b", "0"), ("c", "0"), ("a", "1")}
    assert left.has("a")
    assert not left.has("c")
    # `b` is served before `a`, which was served last.
    assert left.take({("d", "0")}, 2, one_each) == {("b", "1"), ("a", "2")}
    assert left.take(set(), math.inf, one_each) == {("a", "3"), ("a", "4"), ("d", "0")}
    assert not left


def test_what_has_gone_is_taken_no_more() -> None:
    """An item is forgotten once, and its namespace with the last one of it."""
    left: Backlog[tuple[str, str]] = Backlog()
    assert left.take({("a", "0"), ("a", "1")}, 0, one_each) == set()
    assert left.discard(("a", "0"))
    assert not left.discard(("a", "0"))
    assert left.take(set(), 5, one_each) == {("a", "1")}
    assert not left.has("a")


def test_what_costs_more_takes_more_room() -> None:
    """Room for six: two items of 4, the last of which takes more than there is; two are left."""
    left: Backlog[tuple[str, str]] = Backlog()
    every = {("a", str(i)) for i in range(4)}
    assert left.take(every, 6, lambda _: 4) == {("a", "0"), ("a", "1")}
    assert left.take(set(), 16, lambda _: 4) == {("a", "2"), ("a", "3")}
    assert left.take(every, 16, lambda _: 4) == every


def test_one_that_comes_with_thousands_is_read_first() -> None:
    """Ten pods of one namespace and one of another, room for four: it is among these."""
    made = reader(node(), *(pod(f"w-{i}") for i in range(10)))
    tell(made, pod("honest", namespace="other"))
    first = made.reading(NOW, room=4)
    assert GangKey("other", "honest") in {one.key for one in first.snapshot.gangs}
    assert len(waiting(first)) <= 4
    assert made.is_behind
    assert made.is_behind_in("ml")
    assert not made.is_behind_in("other")


def test_all_are_read_in_turns() -> None:
    """After so many turns the reading is the one that a reader has that is not in a hurry."""
    objects = [node(), *(pod(f"w-{i}") for i in range(10))]
    made, whole = reader(*objects), reader(*objects)
    turns = 0
    while made.reading(NOW, room=4) and made.is_behind:
        turns += 1
    assert 2 <= turns <= 6
    assert waiting(made.reading(NOW)) == waiting(whole.reading(NOW))
    assert len(waiting(made.reading(NOW))) == 10


def test_pods_that_run_are_read_at_once() -> None:
    """Which room is free is never left for later: five pods on a node, and room for none."""
    made = reader(node(), *(pod(f"w-{i}") for i in range(5)))
    for number in range(5):
        tell(made, pod(f"r-{number}", phase="Running", nodeName="n1"))
    reading = made.reading(NOW, room=0)
    assert len(reading.snapshot.running) == 5
    assert not waiting(reading)


def test_a_pod_that_goes_meanwhile_is_read_no_more() -> None:
    """It was left for later and is gone: the next reading has the other nine."""
    made = reader(node(), *(pod(f"w-{i}") for i in range(10)))
    made.reading(NOW, room=2)
    made.remove("", "Pod", "ml", "w-9")
    assert len(waiting(made.reading(NOW))) == 9


def test_members_of_one_name_are_read_together() -> None:
    """A gang of six that was read in part grows whole, and is never two gangs."""
    said = {GANG: "g", GANG_SIZE: "6"}
    made = reader(node(), *(pod(f"g-{i}", annotations=said) for i in range(6)))
    for _ in range(6):
        found = [one for one in made.reading(NOW, room=2).snapshot.gangs if one.key.name == "g"]
        assert len(found) <= 1
    (gang,) = made.reading(NOW).snapshot.gangs
    assert len(gang.requests) == 6


def test_the_same_object_is_not_read_again() -> None:
    """A list has what is known already: nothing has changed, and nothing is to be read."""
    made: LiveReader = reader(node())
    body = pod("w")
    assert made.put("", "Pod", body)
    made.reading(NOW)
    assert not made.put("", "Pod", body)
    assert made.reading(NOW).snapshot is made.reading(NOW).snapshot


@pytest.mark.parametrize(("before", "after"), [("z", "a"), ("a", "z")])
def test_a_running_pod_that_changes_its_gang_is_always_there(before: str, after: str) -> None:
    """All gangs are to be read again, in turns, when it is of another one from now on."""

    def of(gang: str) -> Body:
        notes = {GANG: gang, GANG_SIZE: "1"}
        return pod("p", annotations=notes, phase="Running", nodeName="n1")

    others = [pod(f"m-{i}", annotations={GANG: f"m-{i}", GANG_SIZE: "1"}) for i in range(10)]
    made = reader(node(), of(before), *others)
    made.reading(NOW)
    claim = {"apiVersion": "gpu.scheduling/v1", "kind": "GpuClaim", "spec": {"devices": ["n1:0"]}}
    tell(made, {**claim, "metadata": {"name": "c", "namespace": "ml"}})
    tell(made, of(after))
    seen = [made.reading(NOW, room=5).snapshot.running for _ in range(12)]
    assert [[one.name for one in running] for running in seen] == [["p"]] * 12
    assert str(seen[-1][0].gang) == f"ml/{after}"


def test_gangs_that_are_gone_are_planned_no_more() -> None:
    """Ten pods are deleted while all gangs are left for want of room: none is there any more."""
    made = reader(node(), *(pod(f"{kind}-{i}") for kind in "mo" for i in range(10)))
    made.reading(NOW)
    claim = {"apiVersion": "gpu.scheduling/v1", "kind": "GpuClaim", "spec": {"devices": ["n1:0"]}}
    tell(made, {**claim, "metadata": {"name": "c", "namespace": "ml"}})
    made.reading(NOW, room=3)
    for number in range(10):
        made.remove("", "Pod", "ml", f"m-{number}")
    assert waiting(made.reading(NOW, room=0)) == [f"ml/o-{i}" for i in range(10)]


def test_who_is_asked_for_is_read_with_its_gang() -> None:
    """Both pods of a gang of two are of one of four by now, and a hundred others come before."""
    two = [pod(f"w-{i}", annotations={GANG: "w", GANG_SIZE: "2"}) for i in range(2)]
    made = reader(node(), *two)
    made.reading(NOW)
    for number in range(100):
        tell(made, pod(f"a-{number:03}"))
    for number in range(2):
        tell(made, pod(f"w-{number}", annotations={GANG: "w", GANG_SIZE: "4"}))
    (old,) = (one for one in made.reading(NOW, room=5).snapshot.gangs if one.key.name == "w")
    assert old.hold is None
    made.urge([("ml", "w-0")])
    (new,) = (one for one in made.reading(NOW, room=5).snapshot.gangs if one.key.name == "w")
    assert new.hold is not None
    assert "2 of 4" in new.hold.detail


def test_a_version_is_told_of_what_was_read_alone() -> None:
    """A pod asks for other GPUs and then comes once more, both unread: neither version is told."""
    made = reader(node(), pod("w", 1))
    made.reading(NOW)
    for version in "67":
        newer = pod("w", 4)
        newer["metadata"]["resourceVersion"] = version
        tell(made, newer)
        facts = made.reading(NOW, room=0).gangs[GangKey("ml", "w")]
        assert facts.waiting[0].version not in ("6", "7")
    assert made.reading(NOW).gangs[GangKey("ml", "w")].waiting[0].version == "7"


@pytest.mark.parametrize("seed", range(20))
def test_what_is_told_of_a_version_is_what_it_says(seed: int) -> None:
    """Members ask for more or less, or come anew as they were, while few are read at a time."""
    chance = random.Random(seed)  # noqa: S311 - has to repeat
    names = [f"{gang}-{i}" for gang in "abcd" for i in range(3)]
    made, asks, said = reader(node()), dict.fromkeys(names, 1), {}
    for version in range(300):
        name = chance.choice(names)
        if chance.random() < 0.5:
            asks[name] = chance.choice([1, 2, 4])
        notes = {GANG: name[0], GANG_SIZE: "3"}
        body = pod(name, asks[name], annotations=notes, phase="Pending")
        body["metadata"]["resourceVersion"] = str(version)
        said[name, str(version)] = asks[name]
        tell(made, body)
        reading = made.reading(NOW, room=chance.choice([0, 0, 1, 2, 6]))
        for gang in reading.snapshot.gangs:
            asked = {name: role.request.gpus for role in gang.roles for name in role.pods}
            for one in reading.gangs[gang.key].waiting:
                assert asked[one.name] == said[one.name, one.version]


@pytest.mark.parametrize("seed", range(20))
def test_no_two_gangs_of_a_reading_have_one_name(seed: int) -> None:
    """Gangs of one name and several dialects come, change and go, and one is read at a time.

    Any two of one name are read together, as the name of each depends on the other.
    """
    chance = random.Random(seed)  # noqa: S311 - has to repeat

    def some(number: int) -> Body:
        name = chance.choice("ab")
        match chance.randrange(3):
            case 0:
                return pod(f"p-{number}", annotations={GANG: name, GANG_SIZE: "1"})
            case 1:
                labels = {"kueue.x-k8s.io/pod-group-name": name}
                said = {"kueue.x-k8s.io/pod-group-total-count": "1"}
                return pod(f"p-{number}", labels=labels, annotations=said)
        return pod(chance.choice(["a", "b", f"p-{number}"]))

    made = reader(node())
    for _ in range(60):
        body = some(chance.randrange(6))
        if chance.random() < 0.8:
            tell(made, body)
        else:
            made.remove("", "Pod", "ml", body["metadata"]["name"])
        if chance.random() < 0.5:
            found = waiting(made.reading(NOW, room=chance.choice([0, 1, 2])))
            assert len(found) == len(set(found))
