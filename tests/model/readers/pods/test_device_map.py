"""Who gets which line of a device map."""

from __future__ import annotations

from fourleaf.model.devices.held_devices import DEVICES as GRANTED
from fourleaf.model.readers import InputReading
from fourleaf.model.readers.pods.device_map import (
    MOST_BAD_LINES,
    Claimant,
    Pin,
    lines_of,
    map_text,
    parse_map,
)
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.made import Body, node, owned, pod, reading

TEXT = "0=n1:0,1\n1=n1:2,3\n2=n2:0,1\n"
PINS = {0: Pin("n1", (0, 1)), 1: Pin("n1", (2, 3)), 2: Pin("n2", (0, 1))}


def test_text_and_pins_are_the_same() -> None:
    """A map that is written and read again says the same."""
    assert parse_map(TEXT) == (PINS, ())
    assert map_text(PINS) == TEXT


def test_bad_lines_are_told_one_by_one() -> None:
    """Each with why, and the good lines stay."""
    pins, bad = parse_map("0=n1:0\n0=n2:1\n1=n1:2,2\nnonsense\n3=n3:7\n4=n1:1024")
    assert pins == {0: Pin("n1", (0,)), 3: Pin("n3", (7,))}
    assert [(one.line, one.message) for one in bad] == [
        ("0=n2:1", "names pod 0 twice"),
        ("1=n1:2,2", "names a device twice"),
        ("nonsense", "is no line of a device map"),
        ("4=n1:1024", "names device 1024"),
    ]


def test_after_many_bad_lines_the_rest_is_not_read() -> None:
    """Each pod of a Job is told of all of them: a quarter of a megabyte of them takes minutes."""
    pins, bad = parse_map("0=n1:0\n" + "x\n" * 130_000 + "1=n1:1\n")
    assert pins == {0: Pin("n1", (0,))}
    assert len(bad) == MOST_BAD_LINES + 1
    assert bad[-1].message == "is not read, nor what follows: 16 lines before it are wrong"
    assert parse_map("x\n" * MOST_BAD_LINES + "1=n1:1\n")[1][-1].line == "1=n1:1"
    assert len(parse_map("x\n" * MOST_BAD_LINES)[1]) == MOST_BAD_LINES


def test_who_has_an_index_has_that_line() -> None:
    """Nobody else gets it, though he comes first."""
    members = [Claimant("a"), Claimant("b", index=0, created=9.0)]
    assert lines_of(PINS, members) == {"b": 0, "a": 1}


def test_who_waits_takes_the_lowest_line_by_age_and_name() -> None:
    """C is the oldest; a and b are of one age; there is no line for a fourth."""
    members = [
        Claimant("b", created=5.0),
        Claimant("a", created=5.0),
        Claimant("c", created=1.0),
        Claimant("d", created=7.0),
    ]
    assert lines_of(PINS, members) == {"c": 0, "a": 1, "b": 2}


def test_lines_whose_devices_are_held_come_last() -> None:
    """Another pod holds device 1 of n1, so the first who comes takes line 1, the third line 0."""
    members = [Claimant("a"), Claimant("b"), Claimant("c")]
    held = {"n1": 0b10}
    found = lines_of(PINS, members, lambda name: held.get(name, 0))
    assert found == {"a": 1, "b": 2, "c": 0}


def test_a_pod_without_a_number_takes_no_line_that_others_hold() -> None:
    """A pod of another name runs on line 0 of the same map; line 1 is the lowest that is free."""
    said = {"gpu-scheduling-map": TEXT}
    first = pod("gpu-test-0", None, annotations=said | {GRANTED: "0,1"}, nodeName="n1")
    found = reading(node("n1"), node("n2"), first, pod("test-gpu-pod", None, annotations=said))
    (gang,) = found.snapshot.gangs
    assert gang.roles[0].request.wants is not None
    assert gang.roles[0].request.wants.exact == (2, 3)


def test_a_line_whose_node_is_not_there_is_told() -> None:
    """By name, in place of a selector that no node meets; without any node nothing is told."""
    mapped = pod("w-2", None, annotations={"gpu-scheduling-map": TEXT})
    cpu = node("n2", None, status={"allocatable": {"nvidia.com/gpu": "0", "pods": "9"}})
    for nodes, why in (
        ((node("n1"),), "its device map names n2, which is no node of the cluster"),
        ((node("n1"), cpu), "its device map names n2, which has no GPU"),
    ):
        (gang,) = reading(*nodes, mapped).snapshot.gangs
        assert gang.hold is not None
        assert (gang.hold.kind, gang.hold.detail) == (ReasonKind.NO_MATCHING_NODES, why)
    (gang,) = reading(mapped).snapshot.gangs
    assert gang.hold is None


def test_who_is_bound_keeps_the_line_of_what_it_has() -> None:
    """Though an older member waits, and whatever the order of the devices."""
    members = [Claimant("old", created=1.0), Claimant("new", None, "n1", (3, 2), 2.0)]
    assert lines_of(PINS, members) == {"new": 1, "old": 0}


def test_who_is_bound_without_known_devices_has_a_line_of_its_node() -> None:
    """Its Binding has gone out, and its annotation has not come back yet."""
    assert lines_of(PINS, [Claimant("x", node="n2"), Claimant("y")]) == {"x": 2, "y": 0}


def test_who_is_bound_elsewhere_has_no_line() -> None:
    """The map has changed since, and all its lines are free for others."""
    assert lines_of(PINS, [Claimant("x", None, "n9", (0,)), Claimant("y")]) == {"y": 0}


def member(name: str, **more: object) -> Body:
    """A pod of the Deployment `web`, by its ReplicaSet."""
    body = pod(name, gpus=None, annotations={"gpu-scheduling-map": TEXT})
    body["metadata"]["labels"] = {"pod-template-hash": "7d9f8c6b5"}
    body["metadata"] |= more
    return owned(body, "ReplicaSet", "web-7d9f8c6b5", "apps/v1")


def pinned(found: InputReading) -> dict[str, tuple[str, int]]:
    """Pod that waits -> the node that it is pinned to, and its GPUs."""
    return {
        role.pods[0]: (role.constraint.affinity[0][0].values[0], role.request.gpus)
        for gang in found.snapshot.gangs
        for role in gang.roles
    }


def test_a_deployment_shares_out_its_map() -> None:
    """Its pods start one by one, each on the line that it got."""
    found = reading(
        node("n1"),
        node("n2"),
        member("web-7d9f8c6b5-aaaaa", creationTimestamp="2025-11-21T06:00:02Z"),
        member("web-7d9f8c6b5-bbbbb", creationTimestamp="2025-11-21T06:00:01Z"),
    )
    assert pinned(found) == {"web-7d9f8c6b5-bbbbb": ("n1", 2), "web-7d9f8c6b5-aaaaa": ("n1", 2)}
    assert [str(gang.key) for gang in found.snapshot.gangs] == [
        "ml/web-7d9f8c6b5+web-7d9f8c6b5-aaaaa",
        "ml/web-7d9f8c6b5+web-7d9f8c6b5-bbbbb",
    ]


def test_a_pod_that_comes_anew_gets_the_line_that_became_free() -> None:
    """Two are bound with the devices of lines 0 and 2, so line 1 is left."""
    first = member("web-7d9f8c6b5-bbbbb")
    first["spec"]["nodeName"] = "n1"
    first["metadata"]["annotations"] |= {GRANTED: "0,1"}
    third = member("web-7d9f8c6b5-ccccc")
    third["spec"]["nodeName"] = "n2"
    third["metadata"]["annotations"] |= {GRANTED: "0,1"}
    found = reading(node("n1"), node("n2"), first, third, member("web-7d9f8c6b5-ddddd"))
    assert pinned(found) == {"web-7d9f8c6b5-ddddd": ("n1", 2)}
    assert all(one.request.gpus == 2 for one in found.snapshot.running)


def test_a_pod_keeps_its_name_once_it_runs() -> None:
    """What waits, what runs and what a repair would move go by one name."""
    waits = member("web-7d9f8c6b5-bbbbb")
    (gang,) = reading(node("n1"), waits).snapshot.gangs
    runs = member("web-7d9f8c6b5-bbbbb")
    runs["spec"]["nodeName"] = "n1"
    found = reading(node("n1"), runs)
    assert [one.gang for one in found.snapshot.running] == [gang.key]
    assert [one.gang.key for one in found.standing({"n1"}, False)] == [gang.key]


def test_a_pod_too_many_waits_with_a_reason() -> None:
    """The fourth pod of a map of three lines is held, the others are not."""
    names = [f"web-7d9f8c6b5-{letter * 5}" for letter in "bcdf"]
    found = reading(node("n1"), node("n2"), *map(member, names), strict=False)
    held = {gang.roles[0].pods[0]: gang.hold for gang in found.snapshot.gangs if gang.hold}
    assert list(held) == ["web-7d9f8c6b5-fffff"]
    (hold,) = held.values()
    assert hold.kind is ReasonKind.INVALID
    assert "has no line left for web-7d9f8c6b5-fffff" in hold.detail


def test_members_of_a_gang_with_one_index_are_refused() -> None:
    """Two pods with the completion index 0 cannot both have line 0."""
    marks = {
        "gpu-scheduling-map": TEXT,
        "topology.scheduler/gang": "g",
        "topology.scheduler/gang-size": "2",
    }
    zero = {"batch.kubernetes.io/job-completion-index": "0"}
    pods = [pod(name, gpus=None, labels=zero, annotations=marks) for name in ("a", "b")]
    (gang,) = reading(node("n1"), *pods, strict=False).snapshot.gangs
    assert gang.hold is not None
    assert "which both have that index" in gang.hold.detail


def test_a_pod_without_owner_and_number_takes_the_first_line() -> None:
    """As the pod `test-gpu-pod` of a map with several lines."""
    lone = pod("test-gpu-pod", gpus=None, annotations={"gpu-scheduling-map": TEXT})
    assert pinned(reading(node("n1"), lone)) == {"test-gpu-pod": ("n1", 2)}
