"""What is told about gangs that wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.reporting.after_cycle import AfterCycle, after_cycle
from fourleaf.k8s_bridge.reporting.conditions import pod_scheduled
from fourleaf.k8s_bridge.reporting.conditions.pod_scheduled import LOOK_SECONDS
from fourleaf.k8s_bridge.reporting.conditions.retelling import (
    QUIET_SECONDS,
    REMIND_SECONDS,
    RETELL_SECONDS,
    due_at,
)
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests import small
from tests.k8s_bridge.reporting.made import (
    NOW,
    SHORT,
    SHORT_TEXT,
    events,
    facts,
    pod,
    pods_of,
    statuses,
)

PAIR = small.gang("g", 2)
STAMP = "2001-09-09T01:46:40Z"
OTHER_NUMBERS = replace(SHORT, counts=(("needed", 2), ("free", 0)))


def as_written(bodies: list[Body], news: AfterCycle) -> list[Body]:
    """The pods once each has the status that is told of it."""
    return [
        {**body, "status": body["status"] | tell.status}
        for body, tell in zip(bodies, statuses(news.outgoing), strict=True)
    ]


def first(now: CycleFacts) -> AfterCycle:
    """The news of a first cycle."""
    return after_cycle(Reported(), now)


def test_every_pod_gets_the_condition_and_the_first_one_an_event() -> None:
    """Two pods wait: two statuses under UID and version, one warning with the gang's name."""
    news = first(facts([PAIR], pods_of(PAIR)))
    told = statuses(news.outgoing)
    assert [tell.target for tell in told] == [
        Target("ml", name, f"uid-{name}", "7") for name in ("g-0-0", "g-0-1")
    ]
    assert told[0].status == {
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": SHORT_TEXT,
                "lastTransitionTime": STAMP,
            }
        ]
    }
    (event,) = events(news.outgoing)
    assert (event.regarding.name, event.reason, event.warning) == (
        "g-0-0",
        "FailedScheduling",
        True,
    )
    assert event.note == f"Gang ml/g waits: {SHORT_TEXT}"


def test_what_stands_there_is_not_written_again() -> None:
    """Pods that carry the text get no status, and the same reason no second event."""
    bodies = pods_of(PAIR)
    news = first(facts([PAIR], bodies))
    told = as_written(bodies, news)
    assert after_cycle(news.reported, facts([PAIR], told, now=NOW + 1)).outgoing == ()


def test_what_is_not_written_yet_is_asked_for_again_and_made_once() -> None:
    """Two pods as they were get the very same patches; one of a new version gets one for that."""
    bodies = pods_of(PAIR)
    now = facts([PAIR], bodies)
    news = first(now)
    again = after_cycle(news.reported, replace(now, now=NOW + 1))
    old, new = statuses(news.outgoing), statuses(again.outgoing)
    assert [id(one) for one in new] == [id(one) for one in old]
    newer = {**bodies[0], "metadata": {**bodies[0]["metadata"], "resourceVersion": "8"}}
    pods = facts([PAIR], [newer, bodies[1]]).objects
    last = after_cycle(again.reported, replace(now, objects=pods, now=NOW + 2))
    assert [one.target.version for one in statuses(last.outgoing)] == ["8", "7"]


def test_another_kind_of_reason_is_told_though_its_words_are_those_of_before() -> None:
    """What was worked out for the reason before is no answer for this one: both pods get one."""
    bodies = pods_of(PAIR)
    news = first(facts([PAIR], bodies))
    (gang,) = news.reported.gangs
    other = replace(news.reported.gangs[gang], kind=ReasonKind.TOO_LARGE)
    before = replace(news.reported, gangs={gang: other})
    assert len(statuses(after_cycle(before, facts([PAIR], bodies)).outgoing)) == 2


def test_other_conditions_and_the_time_of_the_change_stay() -> None:
    """A merge patch replaces the list, so it holds what was seen; False stays False since then."""
    ready = {"type": "Ready", "status": "False"}
    old = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "before",
        "lastTransitionTime": "2001-01-01T00:00:00Z",
        "lastProbeTime": None,
    }
    gates = {"type": "Other", "status": "True"}
    bodies = [pod("g-0-0", conditions=[ready, old, gates]), pod("g-0-1")]
    told = statuses(first(facts([PAIR], bodies)).outgoing)
    assert told[0].status["conditions"] == [ready, {**old, "message": SHORT_TEXT}, gates]


@pytest.mark.parametrize(
    "body",
    [
        pod("g-0-0", node="a0"),
        pod("g-0-0", schedulingGates=[{"name": "wait"}]),
        {**pod("g-0-0"), "metadata": {**pod("g-0-0")["metadata"], "deletionTimestamp": STAMP}},
    ],
    ids=["bound", "gated", "deleting"],
)
def test_pods_that_are_bound_gated_or_going_are_left_alone(body: dict[str, object]) -> None:
    """Only the other pod of the gang is told, and it carries the event."""
    news = first(facts([PAIR], [body, pod("g-0-1")]))
    assert [tell.target.name for tell in statuses(news.outgoing)] == ["g-0-1"]
    assert [event.regarding.name for event in events(news.outgoing)] == ["g-0-1"]


def test_pods_of_placed_gangs_are_never_written() -> None:
    """A gang that was placed in this cycle is about to be bound: no tell has its pods."""
    news = first(facts([], pods_of(PAIR), placed=[PAIR]))
    assert news.outgoing == ()
    assert news.reported.gangs == {}


def test_numbers_alone_are_told_once_in_a_while() -> None:
    """The text stands while only a count differs, and is renewed after the time for that."""
    bodies = pods_of(PAIR)
    news = first(facts([PAIR], bodies))
    bodies = as_written(bodies, news)
    soon = facts([PAIR], bodies, reasons=[OTHER_NUMBERS], now=NOW + RETELL_SECONDS - 1)
    quiet = after_cycle(news.reported, soon)
    assert quiet.outgoing == ()
    later = facts([PAIR], bodies, reasons=[OTHER_NUMBERS], now=NOW + RETELL_SECONDS)
    renewed = after_cycle(quiet.reported, later).outgoing
    assert len(statuses(renewed)) == 2
    assert "0 are free" in statuses(renewed)[0].status["conditions"][0]["message"]
    assert events(renewed) == []


@pytest.mark.parametrize("is_kept", [True, False], ids=["one answer", "an answer each cycle"])
def test_newer_numbers_are_told_though_the_answer_stays_the_same(is_kept: bool) -> None:
    """What was held back for a minute is told then, and the same patches are not made twice."""
    bodies = pods_of(PAIR)
    news = first(facts([PAIR], bodies))
    bodies = as_written(bodies, news)
    soon = facts([PAIR], bodies, reasons=[OTHER_NUMBERS], now=NOW + 1)
    quiet = after_cycle(news.reported, soon)
    due = NOW + RETELL_SECONDS
    same = replace(soon, now=due)
    later = same if is_kept else facts([PAIR], bodies, reasons=[OTHER_NUMBERS], now=due)
    told = after_cycle(quiet.reported, later)
    assert "0 are free" in statuses(told.outgoing)[0].status["conditions"][0]["message"]
    again = after_cycle(told.reported, replace(later, now=due + 1)).outgoing
    assert list(map(id, statuses(again))) == list(map(id, statuses(told.outgoing)))


def test_another_gang_to_wait_for_is_told_at_once_and_its_event_a_minute_after_the_first() -> None:
    """The same kind and the same numbers, but `ml/old` has ended: `ml/new` stands in its way."""
    bodies = pods_of(PAIR)
    news = first(facts([PAIR], bodies))
    other = replace(SHORT, unblock=("Free 1 node.", "wait for ml/new"))
    bodies = as_written(bodies, news)
    now = facts([PAIR], bodies, reasons=[other], now=NOW + 1)
    soon = after_cycle(news.reported, now)
    texts = [tell.status["conditions"][0]["message"] for tell in statuses(soon.outgoing)]
    assert ["wait for ml/new" in text for text in texts] == [True, True]
    assert events(soon.outgoing) == []
    later = after_cycle(soon.reported, replace(now, now=NOW + RETELL_SECONDS))
    (event,) = events(later.outgoing)
    (before,) = events(news.outgoing)
    assert "wait for ml/new" in event.note
    assert event.key != before.key


def test_every_member_that_comes_is_told_at_once() -> None:
    """A second later there is one more: maybe no cycle follows, so it is told now; no event."""
    bodies = pods_of(PAIR)
    two, three = (Reason(ReasonKind.MEMBERS_MISSING, f"{n} of 4 members") for n in (2, 3))
    news = first(facts([PAIR], bodies, reasons=[two]))
    newer = after_cycle(news.reported, facts([PAIR], bodies, reasons=[three], now=NOW + 1)).outgoing
    said = [tell.status["conditions"][0]["message"] for tell in statuses(newer)]
    assert ["3 of 4 members" in text for text in said] == [True, True]
    assert events(newer) == []


def test_members_that_are_on_their_way_are_no_event_yet() -> None:
    """A Job makes its pods one after the other: the condition says how many are there, no warning.

    Ten seconds after the last one has come, with no cycle since, there is one; of a gang whose
    members are old there is one at once.
    """
    bodies = pods_of(PAIR)
    for body in bodies:
        body["metadata"]["creationTimestamp"] = "2001-09-09T01:46:38Z"
    two, three = (Reason(ReasonKind.MEMBERS_MISSING, f"{n} of 4 members") for n in (2, 3))
    news = first(facts([PAIR], bodies, reasons=[two]))
    assert events(news.outgoing) == []
    assert len(statuses(news.outgoing)) == 2
    bodies[1]["metadata"]["creationTimestamp"] = "2001-09-09T01:46:41Z"
    now = facts([PAIR], bodies, reasons=[three], now=NOW + 2)
    news = after_cycle(news.reported, now)
    assert events(news.outgoing) == []
    (said,) = news.reported.gangs.values()
    assert due_at(said) == NOW + 1 + QUIET_SECONDS
    early = after_cycle(news.reported, replace(now, now=due_at(said) - 1))
    assert events(early.outgoing) == []
    news = after_cycle(news.reported, replace(now, now=due_at(said)))
    assert ["3 of 4 members" in one.note for one in events(news.outgoing)] == [True]
    old = first(facts([PAIR], bodies, reasons=[three], now=NOW + 60))
    assert len(events(old.outgoing)) == 1


def test_another_kind_of_reason_is_told_at_once_with_an_event() -> None:
    """From short of room to outranked within a second: both pods and one event."""
    bodies = pods_of(PAIR)
    news = first(facts([PAIR], bodies))
    outranked = Reason(ReasonKind.OUTRANKED)
    next_one = after_cycle(news.reported, facts([PAIR], bodies, reasons=[outranked], now=NOW + 1))
    assert len(statuses(next_one.outgoing)) == 2
    (event,) = events(next_one.outgoing)
    assert event.topic.startswith("Outranked: ")


def test_an_old_reason_is_recalled_before_the_api_forgets_the_event() -> None:
    """Half an hour after the first event there is a second one, of the same series."""
    bodies = pods_of(PAIR)
    now = facts([PAIR], bodies)
    news = first(now)
    for later in (facts([PAIR], bodies), now):
        again = after_cycle(news.reported, replace(later, now=NOW + REMIND_SECONDS))
        assert [event.key for event in events(again.outgoing)] == [
            event.key for event in events(news.outgoing)
        ]


def test_of_a_long_queue_only_what_is_new_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A condition that was not written is asked for again at the next look at all of them."""
    monkeypatch.setattr(pod_scheduled, "LONG_QUEUE", 1)
    pairs = [small.gang(name, 1) for name in "ab"]
    bodies = [body for one in pairs for body in pods_of(one)]
    before = facts(pairs, bodies)
    news = first(before)
    assert len(statuses(news.outgoing)) == 2
    again = after_cycle(news.reported, replace(before, now=NOW + 1))
    assert again.outgoing == ()
    # A third one comes, and the first has gone.
    more = [pairs[1], small.gang("c", 1)]
    changed = facts(more, [*bodies, *pods_of(more[1])], now=NOW + 2)
    kept = replace(before.plan, waiting=(before.plan.waiting[1], changed.plan.waiting[1]))
    third = after_cycle(again.reported, replace(changed, plan=kept))
    assert [one.target.name for one in statuses(third.outgoing)] == ["c-0-0"]
    assert [one.name for one in third.reported.gangs] == ["b", "c"]
    last = after_cycle(third.reported, replace(changed, plan=kept, now=NOW + LOOK_SECONDS))
    assert [one.target.name for one in statuses(last.outgoing)] == ["b-0-0", "c-0-0"]


def test_much_that_is_new_is_told_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five gangs, two at once; one that was told before and has gone is forgotten."""
    monkeypatch.setattr(pod_scheduled, "LONG_QUEUE", 1)
    monkeypatch.setattr(pod_scheduled, "MOST_AT_ONCE", 2)
    gangs = [small.gang(name, 1) for name in "abcde"]
    now = facts(gangs, [body for one in gangs for body in pods_of(one)])
    told, reported = [], Reported()
    for _ in range(3):
        news = after_cycle(reported, now)
        told.append([one.target.name for one in statuses(news.outgoing)])
        reported = news.reported
    assert told == [["a-0-0", "b-0-0"], ["c-0-0", "d-0-0"], ["e-0-0"]]
    assert not reported.untold
    # All have another answer; of the three that are not told at once, two go meanwhile.
    other = facts(gangs, [], now=NOW + 1)
    reported = after_cycle(reported, other).reported
    assert [one.name for one in reported.untold] == ["c", "d", "e"]
    left = replace(other, plan=replace(other.plan, waiting=other.plan.waiting[:3]))
    reported = after_cycle(reported, left).reported
    assert [one.name for one in reported.gangs] == ["a", "b", "c"]
