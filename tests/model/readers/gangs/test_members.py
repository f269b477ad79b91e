"""Who is in a gang, who is surplus, who is bound, and what holds them."""

from __future__ import annotations

from fourleaf.model.readers import read
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.claims import DRA, claim, claiming, device_class
from tests.model.readers.gangs.made import NATIVE, gang_policy, gangs, in_native, only
from tests.model.readers.made import group, job, node, owned, pod, reading, source


def test_surplus_waits_for_the_gang() -> None:
    """Of four pods and minMember 2 the two of lowest rank are the gang; the others wait."""
    bodies = [in_native(f"a-{i}") for i in (10, 3, 2, 1)]
    found = reading(*bodies, group("g", NATIVE, **gang_policy(2)))
    assert gangs(found) == {
        "ml/g": ["a-1", "a-2"],
        "ml/g+a-3": ["a-3"],
        "ml/g+a-10": ["a-10"],
    }
    holds = [gang.hold.kind if gang.hold else None for gang in found.snapshot.gangs]
    assert holds == [None, ReasonKind.WAITS_FOR_GANG, ReasonKind.WAITS_FOR_GANG]


def test_surplus_of_a_bound_gang_is_free() -> None:
    """Once minMember pods run, each further pod is placed on its own."""
    bodies = [
        in_native("a-0", nodeName="n1"),
        in_native("a-1", nodeName="n1"),
        in_native("a-2"),
        group("g", NATIVE, **gang_policy(2)),
    ]
    found = reading(*bodies)
    assert gangs(found) == {"ml/g+a-2": ["a-2"]}
    assert found.snapshot.gangs[0].hold is None


def test_running_members_are_bound() -> None:
    """A member that runs stands in the role as bound, and as a running pod of the gang."""
    bodies = [
        in_native("a-0", nodeName="n1"),
        in_native("a-1"),
        group("g", NATIVE, **gang_policy(2)),
    ]
    found = reading(*bodies)
    (role,) = found.snapshot.gangs[0].roles
    assert role.pods == ("a-1",)
    assert role.bound == (("a-0", "n1"),)
    (running,) = found.snapshot.running
    assert (str(running), running.node, str(running.gang)) == ("ml/a-0", "n1", "ml/g")
    assert running.ours


def test_finished_members_count_and_hold_nothing() -> None:
    """One member succeeded: the gang of three needs the other two, and nothing runs."""
    bodies = [
        in_native("a-0", nodeName="n1", phase="Succeeded"),
        in_native("a-1"),
        in_native("a-2"),
        group("g", NATIVE, **gang_policy(3)),
    ]
    found = reading(*bodies)
    assert gangs(found) == {"ml/g": ["a-1", "a-2"]}
    assert found.snapshot.gangs[0].hold is None
    assert found.snapshot.running == ()


def test_a_group_that_does_not_exist_holds_its_pods() -> None:
    """Pods may come before their PodGroup: they wait for it."""
    gang = only(in_native("a"))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.MEMBERS_MISSING
    assert gang.hold.unblock == ("Create PodGroup g in namespace ml.",)


def test_an_owner_that_a_cluster_lacks_holds_its_pods() -> None:
    """Pods of a Job that is not there yet are one gang, which waits; a file may leave it out."""
    bodies = [node(), *(owned(pod(f"g-{i}"), "Job", "g") for i in (0, 1))]
    (gang,) = read([source(*bodies)], whole=True).snapshot.gangs
    assert (str(gang.key), gang.roles[0].size) == ("ml/g", 2)
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.MEMBERS_MISSING
    assert gang.hold.detail == "Job ml/g, its owner, is not known"
    assert [one.hold for one in read([source(*bodies)]).snapshot.gangs] == [None, None]


def test_a_job_with_some_pods_is_not_expanded() -> None:
    """A Job of four with two pods is a gang that misses two; no pods are made up."""
    bodies = [owned(pod(f"g-{i}"), "Job", "g") for i in (0, 1)]
    gang = only(*bodies, job("g", parallelism=4, completions=4))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.MEMBERS_MISSING
    assert gang.hold.detail == "2 of 4 members exist"


def test_a_job_winds_down() -> None:
    """Seven of eight completions are done: the last pod needs no companions."""
    body = job("g", parallelism=4, completions=8) | {"status": {"succeeded": 7}}
    gang = only(owned(pod("g-x"), "Job", "g"), body)
    assert gang.hold is None


def test_gates_hold() -> None:
    """A gated pod keeps its gang back, and the hold says so."""
    gang = only(pod(schedulingGates=[{"name": "example.com/quota"}]))
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.GATED


def test_terminating_members_are_not_counted() -> None:
    """A pod that is being deleted holds its room, but its replacement takes its place."""
    old = in_native("a-0", nodeName="n1")
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = reading(old, in_native("a-1"), group("g", NATIVE, **gang_policy(1)))
    assert gangs(found) == {"ml/g": ["a-1"]}
    assert found.snapshot.gangs[0].roles[0].bound == ()
    assert len(found.snapshot.running) == 1


def test_a_missing_member_whose_name_another_still_has() -> None:
    """A StatefulSet makes no other g-1 before the old one has ended, which no dead kubelet does."""
    notes = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    old = pod("g-1", annotations=notes, nodeName="n1")
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    gang = only(pod("g-0", annotations=notes), old)
    assert gang.hold is not None
    assert gang.hold.detail == "1 of 2 members exist, and g-1 on n1 has not ended yet"
    assert gang.hold.unblock[0].startswith("Wait until it ends. Where n1 is dead")
    more = pod("g-2", annotations=notes, nodeName="n2")
    more["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    gang = only(pod("g-0", annotations=notes), old, more)
    assert gang.hold is not None
    assert gang.hold.detail.endswith("g-1 on n1 and g-2 on n2 have not ended yet")
    assert gang.hold.unblock[0].startswith("Wait until they end. Where one of n1 and n2 is dead")
    alone = only(pod("g-0", annotations=notes))
    assert alone.hold is not None
    assert alone.hold.unblock == ("Create the missing pod.",)


def test_a_pod_of_anybody_on_a_node_runs() -> None:
    """Room is held by whoever has a nodeName, but only our pods count as ours."""
    found = reading(pod(nodeName="n1", schedulerName="default-scheduler"))
    (running,) = found.snapshot.running
    assert running.request.gpus == 8
    assert not running.ours
    assert running.gang is None


def test_more_members_than_a_record_holds_are_told_before_any_commit() -> None:
    """4,001 pods are too many, 4,000 are not; with ResourceClaims 2,501 are."""
    notes = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "4001"}
    pods = [pod(f"p-{i}", annotations=notes) for i in range(2)]
    (gang,) = reading(*pods).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.TOO_LARGE
    assert gang.hold.detail == "has 4,001 members, above the 4,000 of one gang"
    notes["topology.scheduler/gang-size"] = "4000"
    (gang,) = reading(*pods).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.MEMBERS_MISSING
    notes["topology.scheduler/gang-size"] = "2501"
    pods = [claiming(name, name, annotations=notes) for name in ("p-0", "p-1")]
    (gang,) = reading(DRA, device_class(), claim("p-0"), claim("p-1"), *pods).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.detail == "has 2,501 members, above the 2,500 of one gang with ResourceClaims"
