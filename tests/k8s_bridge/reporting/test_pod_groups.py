"""The statuses of PodGroups."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import (
    COSCHEDULING_POD_GROUPS,
    NATIVE_POD_GROUPS,
    VOLCANO_POD_GROUPS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.after_cycle import after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.k8s_bridge.reporting.pod_groups.coscheduling import coscheduling_status
from fourleaf.k8s_bridge.reporting.pod_groups.statuses import REWRITE_SECONDS
from fourleaf.k8s_bridge.reporting.pod_groups.tally import Tally
from fourleaf.k8s_bridge.reporting.pod_groups.volcano import volcano_status
from fourleaf.k8s_bridge.reporting.recorder.queue_items import StatusPatch
from tests import small
from tests.k8s_bridge.reporting.made import NOW, SHORT_TEXT, facts, pod, statuses

PAIR = small.gang("g", 2)
STAMP = "2001-09-09T01:46:40Z"
SPECS: dict[Kind, Body] = {
    NATIVE_POD_GROUPS: {"schedulingPolicy": {"gang": {"minCount": 2}}},
    COSCHEDULING_POD_GROUPS: {"minMember": 2},
    VOLCANO_POD_GROUPS: {"minMember": 2},
}


def group(kind: Kind, status: Body | None = None, version: str = "3") -> tuple[Kind, Body]:
    """A group of two named like the gang."""
    metadata = {"namespace": "ml", "name": "g", "uid": "ug", "resourceVersion": version}
    return kind, {"metadata": metadata, "spec": SPECS[kind], "status": status or {}}


def member(kind: Kind, index: int, node: str = "", phase: str = "Pending") -> Body:
    """One of its pods."""
    more: dict[str, Any] = {}
    if kind is NATIVE_POD_GROUPS:
        more = {"schedulingGroup": {"podGroupName": "g"}}
    body = pod(f"g-0-{index}", node, **more)
    if kind is COSCHEDULING_POD_GROUPS:
        body["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "g"}
    if kind is VOLCANO_POD_GROUPS:
        body["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "g"}
    body["status"]["phase"] = phase
    return body


def told_of_group(kind: Kind, now: CycleFacts, before: Reported | None = None) -> list[StatusPatch]:
    """What is told about groups of `kind`."""
    news = after_cycle(before or Reported(), now)
    return [tell for tell in statuses(news.outgoing) if tell.kind is kind]


def waits(kind: Kind, status: Body | None = None, now: float = NOW) -> CycleFacts:
    """The group, its two pods, and the gang waiting."""
    bodies = [member(kind, 0), member(kind, 1)]
    return facts([PAIR], bodies, groups=[group(kind, status)], now=now)


def runs(kind: Kind, status: Body | None = None) -> CycleFacts:
    """The group and its two pods, which run."""
    bodies = [member(kind, i, f"a{i}", "Running") for i in range(2)]
    return facts([], bodies, groups=[group(kind, status)])


def test_a_native_group_that_waits_says_why() -> None:
    """The condition that kube-scheduler writes, with our sentence."""
    (tell,) = told_of_group(NATIVE_POD_GROUPS, waits(NATIVE_POD_GROUPS))
    assert tell.status == {
        "conditions": [
            {
                "type": "PodGroupScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": SHORT_TEXT,
                "lastTransitionTime": STAMP,
            }
        ]
    }
    assert (tell.target.uid, tell.target.version) == ("ug", "3")


def test_a_native_group_turns_true_once_and_stays_so() -> None:
    """All members bound: True. A member that waits again later does not take that back."""
    (tell,) = told_of_group(NATIVE_POD_GROUPS, runs(NATIVE_POD_GROUPS))
    (condition,) = tell.status["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "Scheduled")
    assert told_of_group(NATIVE_POD_GROUPS, waits(NATIVE_POD_GROUPS, tell.status)) == []


def test_a_coscheduling_group_that_waits_is_pending() -> None:
    """Phase and counts, all of them zero."""
    (tell,) = told_of_group(COSCHEDULING_POD_GROUPS, waits(COSCHEDULING_POD_GROUPS))
    assert tell.status == {
        "phase": "Pending",
        "scheduled": 0,
        "running": 0,
        "succeeded": 0,
        "failed": 0,
    }


def test_a_status_that_is_so_already_is_not_written() -> None:
    """The CRD leaves zeros out; they still count as equal."""
    kind = COSCHEDULING_POD_GROUPS
    assert told_of_group(kind, waits(kind, {"phase": "Pending"})) == []
    status = {"phase": "Running", "scheduled": 2, "running": 2, "occupiedBy": "ml/x"}
    assert told_of_group(kind, runs(kind, status)) == []


def test_a_field_that_the_server_drops_is_not_written_for_ever() -> None:
    """The version did not move, so the write came to nothing: it is repeated after a minute."""
    kind = COSCHEDULING_POD_GROUPS
    pruned = {"phase": "Running", "running": 2}
    now = runs(kind, pruned)
    told = after_cycle(Reported(), now).reported
    assert told_of_group(kind, now, told) == []
    later = CycleFacts(now.snapshot, now.plan, now.objects, (), NOW + REWRITE_SECONDS)
    assert len(told_of_group(kind, later, told)) == 1


def test_a_status_lost_to_a_conflict_is_written_again() -> None:
    """The group has another version now and still no status: it is told at once."""
    kind = COSCHEDULING_POD_GROUPS
    told = after_cycle(Reported(), waits(kind)).reported
    bodies = [member(kind, 0), member(kind, 1)]
    moved = facts([PAIR], bodies, groups=[group(kind, version="4")])
    assert [tell.target.version for tell in told_of_group(kind, moved, told)] == ["4"]


def test_groups_of_other_schedulers_are_left_alone() -> None:
    """Pods that name another scheduler make no group ours."""
    kind = COSCHEDULING_POD_GROUPS
    body = member(kind, 0)
    body["spec"]["schedulerName"] = "default-scheduler"
    assert told_of_group(kind, facts([], [body], groups=[group(kind)])) == []


@pytest.mark.parametrize(
    ("tally", "phase"),
    [
        (Tally(pods=2), "Pending"),
        (Tally(pods=2, bound=1), "Unknown"),
        (Tally(pods=2, bound=2, running=1), "Scheduling"),
        (Tally(pods=2, bound=2, running=2), "Running"),
        (Tally(pods=2, bound=1, running=1, succeeded=1), "Running"),
        (Tally(pods=2, succeeded=2), "Finished"),
        (Tally(pods=2, bound=1, running=1, failed=1), "Failed"),
    ],
)
def test_phases_of_coscheduling(tally: Tally, phase: str) -> None:
    """A group of two, from nothing to its end, in the words of its API."""
    body = group(COSCHEDULING_POD_GROUPS)[1]
    assert coscheduling_status(body, tally)["phase"] == phase


@pytest.mark.parametrize(
    ("tally", "phase"),
    [
        (Tally(pods=1), "Pending"),
        (Tally(pods=2), "Inqueue"),
        (Tally(pods=2, bound=1), "Unknown"),
        (Tally(pods=2, bound=2), "Running"),
        (Tally(pods=2, succeeded=2), "Completed"),
    ],
)
def test_phases_of_volcano(tally: Tally, phase: str) -> None:
    """A group of two, from nothing to its end, in the words of its API."""
    body = group(VOLCANO_POD_GROUPS)[1]
    assert volcano_status(body, tally, None, NOW)["phase"] == phase


def test_volcano_conditions_follow_the_gang() -> None:
    """Unschedulable while it waits; Scheduled, and no longer Unschedulable, once it stands."""
    kind = VOLCANO_POD_GROUPS
    (tell,) = told_of_group(kind, waits(kind))
    (condition,) = tell.status["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "Unschedulable",
        "True",
        "NoFreeCapacity",
    )
    (after,) = told_of_group(kind, runs(kind, tell.status))
    assert [(c["type"], c["status"]) for c in after.status["conditions"]] == [
        ("Unschedulable", "False"),
        ("Scheduled", "True"),
    ]


@pytest.mark.parametrize("least", ["x", [2], {"a": 1}])
def test_a_group_that_makes_no_sense_keeps_no_other_from_being_told(least: Any) -> None:
    """A group without a schema may say anything; the one beside it has its status."""
    broken = group(VOLCANO_POD_GROUPS)[1]
    broken = {**broken, "spec": {"minMember": least}}
    broken["metadata"] = {**broken["metadata"], "name": "a"}
    odd = member(VOLCANO_POD_GROUPS, 7)
    odd["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "a"}
    bodies = [member(VOLCANO_POD_GROUPS, 0), member(VOLCANO_POD_GROUPS, 1), odd]
    now = facts([PAIR], bodies, groups=[(VOLCANO_POD_GROUPS, broken), group(VOLCANO_POD_GROUPS)])
    told = told_of_group(VOLCANO_POD_GROUPS, now)
    assert [one.target.name for one in told] == ["g"]
