"""Who is told why a gang waits: what the team made, at once, and its pods, a few at a time."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS, JOB_SETS, JOBS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.after_cycle import after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import Reported
from fourleaf.k8s_bridge.reporting.events.waiting_gangs import what_members_are_told
from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests import small
from tests.k8s_bridge.reporting.made import NOW, SHORT_TEXT, events, facts, pods_of


def made(kind: Kind, name: str, owner: Body | None = None) -> Body:
    """An object of `kind`, made by `owner` (with its `kind`) where there is one."""
    body: Body = {"metadata": {"namespace": "ml", "name": name, "uid": f"uid-{name}"}, "of": kind}
    return owned(body, owner) if owner else body


def owned(body: Body, owner: Body, uid: str = "") -> Body:
    """The object as `owner` made it."""
    kind, metadata = owner["of"], owner["metadata"]
    reference = {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "name": metadata["name"],
        "uid": uid or metadata["uid"],
        "controller": True,
    }
    return {**body, "metadata": {**body["metadata"], "ownerReferences": [reference]}}


def told(gang: Gang, bodies: list[Body], *others: Body) -> list[str]:
    """The kinds and names that one cycle has events for."""
    groups = [(one["of"], one) for one in others]
    news = after_cycle(Reported(), facts([gang], bodies, groups=groups))
    return [f"{one.regarding.kind.name}/{one.regarding.name}" for one in events(news.outgoing)]


def test_what_the_team_made_is_told_with_the_first_pod() -> None:
    """A JobSet made the Job that made the pods; its event says what that of the pod says."""
    gang = small.gang("g", 3)
    jobset = made(JOB_SETS, "train")
    job = made(JOBS, "train-0", jobset)
    bodies = [owned(body, job) for body in pods_of(gang)]
    assert told(gang, bodies, job, jobset) == ["Pod/g-0-0", "JobSet/train"]
    assert told(gang, bodies, job) == ["Pod/g-0-0", "Job/train-0"]
    assert told(gang, bodies) == ["Pod/g-0-0"]
    news = after_cycle(Reported(), facts([gang], bodies, groups=[(JOBS, job)]))
    first, owner = events(news.outgoing)
    assert owner.note == first.note == f"Gang ml/g waits: {SHORT_TEXT}"
    assert owner.regarding.uid == "uid-train-0"


def test_a_reference_that_names_another_object_is_believed_by_none() -> None:
    """A pod that names an owner which did not make it, by the uid, makes no event on that one."""
    gang = small.gang("g", 1)
    job = made(JOBS, "of-others")
    bodies = [owned(body, job, "uid-forged") for body in pods_of(gang)]
    assert told(gang, bodies, job) == ["Pod/g-0-0"]


def test_the_pod_group_of_a_gang_is_told() -> None:
    """The one that the label of its pods names."""
    gang = small.gang("g", 2)
    bodies = pods_of(gang)
    for body in bodies:
        body["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "pg"}
    group = {**made(COSCHEDULING_POD_GROUPS, "pg"), "spec": {"minMember": 2}}
    assert told(gang, bodies, group) == ["Pod/g-0-0", "PodGroup/pg"]


def test_thousands_that_wait_are_told_ten_at_a_time() -> None:
    """100 gangs of 30 pods and one Job: 100 first pods and the Job; then 10 of the 2900 at once.

    A gang whose reason changes meanwhile is told the new one from its start.
    """
    job = made(JOBS, "train")
    gangs = [small.gang(f"g{number}", 30) for number in range(100)]
    bodies = [owned(body, job) for gang in gangs for body in pods_of(gang)]
    now = facts(gangs, bodies, groups=[(JOBS, job)])
    news = after_cycle(Reported(), now)
    assert len({event.key for event in events(news.outgoing)}) == 101
    again = after_cycle(news.reported, now)
    assert events(again.outgoing) == []
    some, reported = what_members_are_told(again.reported)
    assert [event.regarding.name for event in some] == [f"g0-0-{rank}" for rank in range(1, 11)]
    assert {event.reason for event in some} == {"FailedScheduling"}
    assert sum(len(one.pods) for one in reported.news.values()) == 2890
    other = Reason(ReasonKind.TOO_LARGE)
    changed = after_cycle(reported, facts(gangs, bodies, reasons=[other], now=NOW + 1))
    some, reported = what_members_are_told(changed.reported)
    assert {event.topic.partition(":")[0] for event in some} == {"TooLarge"}
    assert some[0].regarding.name == "g0-0-1"


def test_who_no_longer_waits_is_told_nothing_more() -> None:
    """The gang is placed in the next cycle."""
    gang = small.gang("g", 2)
    bodies = pods_of(gang)
    before = after_cycle(Reported(), facts([gang], bodies)).reported
    after = after_cycle(before, facts([], bodies, placed=[gang])).reported
    some, reported = what_members_are_told(after)
    assert some == []
    assert reported.news == {}
