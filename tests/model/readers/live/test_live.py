"""The incremental reader: what it keeps, what it forgets, what it leaves as it was."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.dialects import Dialect
from fourleaf.model.readers.gangs.drafts import KeptPlaces
from fourleaf.model.readers.gangs.minimum_size import MinimumSizes
from fourleaf.model.readers.live import LiveReader, LiveReading, WaitingMember
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from fourleaf.model.readers.objects.owners import OwnerRef
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.made import Body, config, group, job, node, owned, pod

NOW = 1_800_000_000.0
COSCHEDULING = "scheduling.x-k8s.io"


def reader(*bodies: Body) -> LiveReader:
    """Make a reader that knows `bodies`."""
    made = LiveReader()
    for body in bodies:
        tell(made, body)
    return made


def tell(to: LiveReader, body: Body) -> bool:
    """Put `body`, whatever it is; pods get the UID and version that their name says."""
    version = body["apiVersion"].rpartition("/")[0]
    metadata = body["metadata"]
    if body["kind"] == "Pod":
        metadata.setdefault("uid", f"uid-{metadata['name']}")
        metadata.setdefault("resourceVersion", "1")
        metadata.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
    return to.put(version, body["kind"], body)


def member(name: str, gang: str = "g", **fields: Any) -> Body:
    """Make a pod of the coscheduling group `gang`."""
    return pod(name, labels={"scheduling.x-k8s.io/pod-group": gang}, **fields)


def pod_group(least: Any, name: str = "g") -> Body:
    """Make a coscheduling group."""
    return group(name, f"{COSCHEDULING}/v1alpha1", minMember=least)


def names(reading: LiveReading) -> dict[str, str]:
    """Gang -> kind of its hold, "" where it may be planned."""
    return {
        str(gang.key): "" if gang.hold is None else gang.hold.kind
        for gang in reading.snapshot.gangs
    }


def test_an_assumed_pod_runs_until_an_event_shows_its_node() -> None:
    """What we bound counts at once, and what the watch says of it counts from then on."""
    made = reader(node("n1"), node("n2"), pod("p"))
    made.assume("uid-p", "n1")
    (assumed,) = made.reading(NOW).snapshot.running
    assert (assumed.node, names(made.reading(NOW))) == ("n1", {})
    tell(made, pod("p", nodeName="n2"))
    (shown,) = made.reading(NOW).snapshot.running
    assert shown.node == "n2"
    made.release("uid-p")
    assert made.reading(NOW).snapshot.running == (shown,)


def test_what_changes_of_an_assumed_pod_leaves_it_where_it_is() -> None:
    """An event that does not know of the binding yet does not undo it; releasing does."""
    made = reader(node(), pod("p"))
    made.assume("uid-p", "n1")
    tell(made, pod("p", labels={"new": "label"}))
    assert [one.node for one in made.reading(NOW).snapshot.running] == ["n1"]
    made.release("uid-p")
    assert (made.reading(NOW).snapshot.running, names(made.reading(NOW))) == ((), {"ml/p": ""})


@pytest.mark.parametrize("again", ["removed", "replaced", "finished"])
def test_an_assumption_ends_with_its_pod(again: str) -> None:
    """A pod that is gone, or has ended, holds nothing; another of its name is not bound."""
    made = reader(node(), pod("p"))
    made.assume("uid-p", "n1")
    made.reading(NOW)
    if again == "removed":
        made.remove("", "Pod", "ml", "p")
    fresh = pod("p", phase="Failed" if again == "finished" else None)
    if again != "finished":
        fresh["metadata"]["uid"] = "another"
    tell(made, fresh)
    assert made.reading(NOW).snapshot.running == ()
    assert names(made.reading(NOW)) == ({} if again == "finished" else {"ml/p": ""})


def test_nothing_is_assumed_of_a_pod_that_is_not_there() -> None:
    """A UID that nobody has is left out, also once a pod comes that has it."""
    made = reader(node())
    made.assume("uid-p", "n1")
    tell(made, pod("p"))
    assert names(made.reading(NOW)) == {"ml/p": ""}


def test_heartbeats_keep_the_fabric_and_all_that_was_read() -> None:
    """A node that says that it lives changes nothing; one that is cordoned makes a new fabric."""
    made = reader(node("n1"), node("n2"), pod("p"))
    before = made.reading(NOW)
    beat = {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "now"}]}
    status = node("n1")["status"]
    assert not tell(made, node("n1", status=status | beat))
    assert made.reading(NOW) is before
    assert tell(made, node("n1", status=status, spec={"unschedulable": True}))
    after = made.reading(NOW)
    assert after.snapshot.fabric is not before.snapshot.fabric
    assert after.snapshot.fabric.nodes["n1"].cordoned
    assert after.snapshot.gangs[0] is before.snapshot.gangs[0]


def test_what_says_nothing_new_is_no_change_but_its_version_counts() -> None:
    """The status of a pod is noise, but a Binding must name the newest version."""
    made = reader(node(), pod("p"), pod("q"))
    before = made.reading(NOW)
    noisy = pod("p")
    noisy["metadata"] |= {"resourceVersion": "2", "managedFields": [{}]}
    noisy["status"] = {"conditions": [{"type": "PodScheduled", "status": "False"}]}
    assert not tell(made, noisy)
    after = made.reading(NOW)
    assert after.gangs[GangKey("ml", "p")].waiting == (WaitingMember("ml", "p", "uid-p", "2"),)
    assert before.gangs[GangKey("ml", "p")].waiting == (WaitingMember("ml", "p", "uid-p", "1"),)
    assert after.gangs[GangKey("ml", "q")] is before.gangs[GangKey("ml", "q")]
    assert after.snapshot is before.snapshot


def test_unchanged_gangs_and_running_pods_stay_the_same_objects() -> None:
    """What was not touched is not made anew, when another gang comes."""
    made = reader(node(), pod("p"), pod("r", nodeName="n1"))
    before = made.reading(NOW).snapshot
    tell(made, pod("q"))
    after = made.reading(NOW).snapshot
    assert [gang.key.name for gang in after.gangs] == ["p", "q"]
    assert after.gangs[0] is before.gangs[0]
    assert after.running is before.running


def test_gangs_stay_in_natural_order_whatever_comes_and_goes() -> None:
    """Of g-2, g-10 and g-9 the second goes and comes again, and g-1 comes last."""
    made = reader(node(), pod("g-2"), pod("g-10"), pod("g-9"))
    assert list(names(made.reading(NOW))) == ["ml/g-2", "ml/g-9", "ml/g-10"]
    made.remove("", "Pod", "ml", "g-9")
    assert list(names(made.reading(NOW))) == ["ml/g-2", "ml/g-10"]
    for name in ("g-9", "g-1"):
        tell(made, pod(name))
    assert list(names(made.reading(NOW))) == ["ml/g-1", "ml/g-2", "ml/g-9", "ml/g-10"]


def test_one_of_many_gangs_has_its_place_in_natural_order() -> None:
    """Of twenty gangs the seventh goes and comes again, and g-07 beside it, which is before it."""
    made = reader(node(), *(pod(f"g-{i}") for i in range(1, 21)))
    assert len(made.reading(NOW).snapshot.gangs) == 20
    made.remove("", "Pod", "ml", "g-7")
    assert list(names(made.reading(NOW)))[5:7] == ["ml/g-6", "ml/g-8"]
    for name in ("g-7", "g-07"):
        tell(made, pod(name))
    assert list(names(made.reading(NOW)))[5:9] == ["ml/g-6", "ml/g-07", "ml/g-7", "ml/g-8"]


def test_a_gang_read_anew_is_the_object_of_before_where_it_is_equal() -> None:
    """Of two gangs whose pods are read anew, the one that asks for more is another object."""
    made = reader(node(), pod("p"), pod("q"))
    before = made.reading(NOW).snapshot.gangs
    tell(made, pod("p", labels={"seen": "by no rule"}))
    tell(made, pod("q", gpus=2))
    after = made.reading(NOW).snapshot.gangs
    assert [new is old for new, old in zip(after, before, strict=True)] == [True, False]


def test_time_alone_changes_the_moment_alone() -> None:
    """A later reading of the same cluster shares everything but the time."""
    made = reader(node(), pod("p"), pod("r", nodeName="n1"))
    before = made.reading(NOW).snapshot
    free = before.free
    after = made.reading(NOW + 1).snapshot
    assert (before.now, after.now) == (NOW, NOW + 1)
    assert after.gangs is before.gangs
    assert after.free is free


FAULTS: dict[str, tuple[list[Body], Body, Body]] = {
    "pod": (
        [pod_group(1)],
        member("a-0", gpus="many"),
        member("a-0"),
    ),
    "group": ([member("a-0")], pod_group("two"), pod_group(1)),
    "owner": (
        [owned(pod("a-0"), "Job", "g")],
        job("g", annotations={"topology.scheduler/what": "x"}, completionMode="Indexed"),
        job("g", completionMode="Indexed"),
    ),
    "another member": (
        [pod_group(2), member("a-0")],
        member("a-1", priority=7),
        member("a-1"),
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_gone_once_it_is_corrected(case: str) -> None:
    """A gang that was invalid may be planned as soon as what was wrong is right."""
    others, wrong, right = FAULTS[case]
    made = reader(node(), *others)
    tell(made, wrong)
    broken = made.reading(NOW)
    assert names(broken) == {"ml/g": ReasonKind.INVALID}
    assert broken.problems
    tell(made, right)
    assert (names(made.reading(NOW)), made.reading(NOW).problems) == ({"ml/g": ""}, ())


def test_gpus_of_a_gang_are_divided_anew_when_it_grows() -> None:
    """8 GPUs over 2 pods are 4 each, over 4 pods 2 each, also for the pods that were there."""
    count = {"topology.scheduler/gpu-count": "8"}
    pods = [member(f"a-{i}", gpus=None, annotations=count) for i in range(4)]
    made = reader(node(), pod_group(2), *pods[:2])
    (gang,) = made.reading(NOW).snapshot.gangs
    assert [(role.request.gpus, len(role.pods)) for role in gang.roles] == [(4, 2)]
    for body in (pod_group(4), *pods[2:]):
        tell(made, body)
    (gang,) = made.reading(NOW).snapshot.gangs
    assert [(role.request.gpus, len(role.pods)) for role in gang.roles] == [(2, 4)]


def test_a_broken_node_is_left_out_until_it_is_corrected() -> None:
    """One node that cannot be understood is a problem, and the others make the fabric."""
    made = reader(node("n1"))
    tell(made, node("n2", status={"allocatable": {"nvidia.com/gpu": "lots"}}))
    broken = made.reading(NOW)
    assert list(broken.snapshot.fabric.nodes) == ["n1"]
    assert [one.object for one in broken.problems] == ["Node n2"]
    tell(made, node("n2"))
    assert list(made.reading(NOW).snapshot.fabric.nodes) == ["n1", "n2"]
    assert made.reading(NOW).problems == ()


@pytest.mark.parametrize("body", [{}, {"metadata": "x"}, {"metadata": {"name": 7}}])
def test_what_has_no_name_is_left_out(body: Body) -> None:
    """An object that cannot be told from others is no change and no problem."""
    made = reader(node())
    assert not made.put("", "Pod", body)
    assert made.reading(NOW).problems == ()


def test_facts_say_where_a_gang_comes_from() -> None:
    """Who answers for a gang, by dialect, group and scheduler, and who waits of it by name."""
    made = reader(node(), pod_group(2), member("a-1"), member("a-0"))
    facts = made.reading(NOW).gangs[GangKey("ml", "g")]
    assert facts.dialect is Dialect.COSCHEDULING
    assert facts.holder == OwnerRef(COSCHEDULING, "PodGroup", "g")
    assert facts.scheduler == "topology-aware-scheduler"
    assert [one.name for one in facts.waiting] == ["a-0", "a-1"]


def test_pods_of_ours_are_found_by_their_node() -> None:
    """A node's pods of ours are named with gang and UID; those of others are not."""
    made = reader(
        node(), pod("p", nodeName="n1"), pod("q", nodeName="n1", schedulerName="default-scheduler")
    )
    reading = made.reading(NOW)
    assert list(reading.ours_on("n1")) == [(GangKey("ml", "p"), "uid-p")]
    assert list(reading.ours_on("n2")) == []


def test_another_config_reads_everything_anew() -> None:
    """Pods that ask for a scheduler of another name are ours once the config says so."""
    made = reader(node(), pod("p", schedulerName="mine"))
    assert names(made.reading(NOW)) == {}
    made.configure(SchedulerConfig.model_validate(config(schedulerNames=["mine"])))
    assert names(made.reading(NOW)) == {"ml/p": ""}


def test_a_list_takes_the_place_of_what_was_known() -> None:
    """What is not on a fresh list is gone."""
    made = reader(node(), pod("p"), pod("q"))
    assert made.replace_all("", "Pod", [pod("q")])
    assert names(made.reading(NOW)) == {"ml/q": ""}


class Remembered(dict[str, Any]):
    """A body of which one can tell whether somebody keeps it."""


def test_nothing_is_kept_of_objects_that_are_gone() -> None:
    """Once all is removed, no body is held by anyone, and no index has an entry."""
    bodies = [
        node(),
        pod_group(2),
        member("a-0"),
        member("a-1", nodeName="n1"),
        owned(pod("b-0", annotations={"topology.scheduler/x": "y"}), "Job", "b"),
        job("b", completionMode="Indexed"),
    ]
    made = LiveReader()
    empty = sizes_of(made)
    kept = []
    for body in bodies:
        alive = Remembered(body)
        kept.append(weakref.ref(alive))
        tell(made, alive)
        del alive
    made.assume("uid-a-0", "n1")
    made.reading(NOW)
    for body in bodies:
        version, metadata = body["apiVersion"].rpartition("/")[0], body["metadata"]
        assert made.remove(version, body["kind"], metadata.get("namespace", ""), metadata["name"])
    made.reading(NOW + 60)
    gc.collect()
    assert [one() for one in kept] == [None] * len(bodies)
    assert sizes_of(made) == empty


def sizes_of(thing: object, path: str = "") -> dict[str, int]:
    """How much every collection in `thing` holds, as far as it holds anything."""
    found: dict[str, int] = {}
    for name, value in vars(thing).items():
        where = f"{path}.{name}"
        if name in ("_config", "_reading", "_values", "fabric"):
            continue
        if isinstance(value, dict):
            held = {k: v for k, v in value.items() if v != {}}
            found |= {where: len(held)} if held else {}
        elif isinstance(value, set | tuple | list):
            found |= {where: len(value)} if value else {}
        elif type(value).__module__.startswith("fourleaf.model.readers"):
            found |= sizes_of(value, where)
    return found


def test_who_holds_devices_decides_which_line_is_left_for_others() -> None:
    """While n1:0 is held the pod without a number has the second line, and then the first again."""
    made = reader(node("n1"), node("n2"))
    said = {"gpu-scheduling-map": "0=n1:0\n1=n2:1"}
    tell(made, pod("x-a", None, annotations=said))

    def line() -> tuple[int, ...]:
        (gang,) = made.reading(NOW).snapshot.gangs
        wants = gang.roles[0].request.wants
        return wants.exact if wants else ()

    assert line() == (0,)
    tell(made, pod("other", 1, annotations={"alloc.gpu.scheduling/devices": "0"}, nodeName="n1"))
    assert line() == (1,)
    made.remove("", "Pod", "ml", "other")
    assert line() == (0,)


def test_arrivals_are_gangs_that_become_fit_to_be_planned() -> None:
    """The last member and a lifted gate count, once; a first member and new labels do not."""
    made = reader(node(), pod_group(2), member("a"))
    began = made.reading(NOW).arrivals
    assert made.arrivals(NOW) == began
    tell(made, member("b", schedulingGates=[{"name": "quota"}]))
    assert made.arrivals(NOW) == began
    tell(made, member("b"))
    assert made.arrivals(NOW) == began + 1
    tell(made, member("b", annotations={"note": "new"}))
    assert made.arrivals(NOW) == began + 1
    assert made.reading(NOW).arrivals == began + 1
    tell(made, pod("single"))
    assert made.reading(NOW).arrivals == began + 2


def repelling(name: str) -> Body:
    """A pod that keeps off the hosts of its like."""
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return pod(name, labels={"app": "web"}, affinity=apart)


def test_a_gang_that_others_hold_stays_the_same_object_and_is_no_arrival() -> None:
    """Of three that repel each other two wait for one, which no label and no fourth changes.

    One of these is a gang of two.
    """
    members = [repelling("g-0"), repelling("g-1")]
    for one in members:
        one["metadata"]["annotations"] = {GANG: "g", GANG_SIZE: "2"}
    made = reader(node(), repelling("a"), repelling("b"), *members)
    before = made.reading(NOW)
    assert names(before) == {"ml/a": "", "ml/b": "WaitsForGang", "ml/g": "WaitsForGang"}
    again = repelling("b")
    again["metadata"]["annotations"] = {"note": "new"}
    tell(made, again)
    assert made.arrivals(NOW) == before.arrivals
    tell(made, pod("c"))
    after = made.reading(NOW)
    assert names(after) == names(before) | {"ml/c": ""}
    by_key = after.snapshot.gangs_by_key
    pairs = [(old, by_key[old.key]) for old in before.snapshot.gangs]
    assert [old.key for old, new in pairs if old is not new] == []


def test_a_gang_is_what_was_read_of_it_once_no_other_minds_it() -> None:
    """A pod that runs repels it from its node; where that has ended, it may go there again."""
    made = reader(node("n1"), pod("w", labels={"app": "web"}))
    alone = made.reading(NOW).snapshot
    tell(made, repelling("r") | {"spec": repelling("r")["spec"] | {"nodeName": "n1"}})
    beside = made.reading(NOW).snapshot
    assert beside.gangs != alone.gangs
    assert beside.gangs_by_key == {beside.gangs[0].key: beside.gangs[0]}
    made.remove("", "Pod", "ml", "r")
    after = made.reading(NOW).snapshot
    assert after.gangs == alone.gangs
    assert after.gangs_by_key == alone.gangs_by_key


def test_a_reading_tells_all_that_was_taken_in_before() -> None:
    """To ask for arrivals makes no reading, and takes nothing from the next one."""
    made = reader(node("n1"), pod("runs", nodeName="n1"))
    before = made.reading(NOW)
    made.remove("", "Pod", "ml", "runs")
    tell(made, node("n2"))
    tell(made, pod("p"))
    made.arrivals(NOW)
    made.arrivals(NOW)
    after = made.reading(NOW)
    assert [one.name for one in before.snapshot.running] == ["runs"]
    assert (after.snapshot.running, sorted(after.snapshot.fabric.nodes)) == ((), ["n1", "n2"])
    assert names(after) == {"ml/p": ""}


def test_a_group_of_that_name_elsewhere_has_no_gang_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stranger makes and deletes one in a namespace of its own; an edit of its own group does."""
    made = reader(node(), pod_group(2), member("a"), member("b"))
    made.reading(NOW)
    read, count = MinimumSizes.of, Counter[str]()
    monkeypatch.setattr(MinimumSizes, "of", lambda *told: count.update(told[2:3]) or read(*told))
    foreign = pod_group(2) | {"metadata": {"name": "g", "namespace": "other"}}
    assert tell(made, foreign)
    made.reading(NOW)
    assert made.remove(COSCHEDULING, "PodGroup", "other", "g")
    made.reading(NOW)
    assert not count
    tell(made, pod_group(3))
    made.reading(NOW)
    assert count == {"ml": 1}


def test_members_for_whom_places_are_kept_start_together() -> None:
    """Of three that wait and of whom one is needed, two start where two places are kept, once.

    A member that has come by then has one of the places, as has one that still stands; where the
    places are kept no longer, one starts again.
    """
    made = reader(node(), pod_group(1), *(member(f"g-{number}") for number in range(3)))
    key = GangKey("ml", "g")

    def waiting(kept: KeptPlaces | None) -> int:
        made.keep_places({} if kept is None else {key: kept})
        gang = made.reading(NOW).snapshot.gangs_by_key.get(key)
        return 0 if gang is None else sum(len(role.pods) for role in gang.roles)

    seats = frozenset(("old-0", "old-1"))
    two = KeptPlaces(seats, seats | {"stays"}, frozenset(("n1",)))
    assert waiting(None) == 1
    assert waiting(two) == 2
    tell(made, member("g-0", nodeName="n1"))
    assert waiting(two) == 1
    tell(made, member("g-1", nodeName="n1"))
    assert waiting(two) == 0
    one = replace(two, before=two.before | {"uid-g-1"})
    assert waiting(one) == 1
    assert waiting(replace(one, seats=frozenset(("old-0", "uid-g-1")))) == 0
    assert waiting(replace(two, nodes=frozenset(("n2",)))) == 1
    assert waiting(None) == 0


def test_a_pod_that_was_made_anew_on_its_node_has_another_uid() -> None:
    """All else is the same, and what acts on the pod acts on the one that is there."""
    made = reader(node(), pod("p", nodeName="n1"))
    assert dict(made.reading(NOW).uids) == {("ml", "p"): "uid-p"}
    anew = pod("p", nodeName="n1")
    anew["metadata"]["uid"] = "another"
    tell(made, anew)
    assert dict(made.reading(NOW).uids) == {("ml", "p"): "another"}
