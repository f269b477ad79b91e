"""Which writes events come to."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, NODES, PODS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.reporting.events.relocations import what_is_stranded
from fourleaf.k8s_bridge.reporting.recorder.event_series import (
    NewEvent,
    Recount,
    Series,
    event_body,
)
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.reporting.made import NOW

EVENT = Event(
    Regarding(PODS, "ml", "p", "u"), "FailedScheduling", "why", "Scheduling", "TooLarge", True
)


def test_an_event_has_all_that_the_api_demands() -> None:
    """Every field that events.k8s.io/v1 requires, as its validation reads it."""
    body = event_body(EVENT, "host-1", NOW, 1)
    assert body.pop("metadata") == {"name": "p.38d7ea4c680000001", "namespace": "ml"}
    assert body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "eventTime": "2001-09-09T01:46:40.000000Z",
        "reportingController": "topology-aware-scheduler",
        "reportingInstance": "host-1",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "ml",
            "name": "p",
            "uid": "u",
        },
        "note": "why",
        "type": "Warning",
    }


def test_events_about_nodes_go_to_the_default_namespace() -> None:
    """The API takes events about objects without a namespace nowhere else."""
    event = replace(EVENT, regarding=Regarding(NODES, "", "n", "u"))
    body = event_body(event, "i", NOW, 1)
    assert body["metadata"]["namespace"] == "default"
    assert "namespace" not in body["regarding"]


def test_long_names_still_make_a_legal_name() -> None:
    """A name of 253 characters is cut so that the whole stays within 253."""
    event = replace(EVENT, regarding=Regarding(CONFIG_MAPS, "ml", "a" * 229 + "." + "b" * 23))
    name = event_body(event, "i", NOW, 1)["metadata"]["name"]
    assert len(name) <= 253
    assert name.startswith("a" * 229 + ".3")


def test_the_same_event_raises_a_count_once_a_minute() -> None:
    """Created; nothing at 59 s; at 60 s the third occurrence is written as a count of 3."""
    series = Series("i")
    made = series.next(EVENT, NOW)
    assert isinstance(made, NewEvent)
    assert series.next(EVENT, NOW + 59) is None
    other_note = replace(EVENT, note="other numbers")
    recount = series.next(other_note, NOW + 60)
    assert isinstance(recount, Recount)
    assert recount.target.name == made.body["metadata"]["name"]
    assert recount.patch == {
        "series": {"count": 3, "lastObservedTime": "2001-09-09T01:47:40.000000Z"}
    }
    assert series.next(EVENT, NOW + 61) is None


def test_silence_and_other_topics_start_anew() -> None:
    """After ten minutes of silence, and for another kind of reason, there is a new Event."""
    series = Series("i")
    series.next(EVENT, NOW)
    assert isinstance(series.next(replace(EVENT, topic="Outranked"), NOW), NewEvent)
    assert isinstance(series.next(EVENT, NOW + 600), Recount)
    assert isinstance(series.next(EVENT, NOW + 1201), NewEvent)


def test_an_event_that_was_not_written_starts_anew() -> None:
    """A count for an Event that does not exist would be lost as well."""
    series = Series("i")
    series.next(EVENT, NOW)
    series.forget(EVENT)
    assert isinstance(series.next(EVENT, NOW + 60), NewEvent)


def test_another_why_of_a_gang_that_stays_is_another_event() -> None:
    """The note of an Event cannot be changed: a higher count would advise what is over."""
    pod, gang = Target("ml", "g-0", "u"), GangKey("ml", "g")
    series = Series("i")
    first, again, other = (
        series.next(what_is_stranded(gang, pod, why), NOW + 61 * number)
        for number, why in enumerate(("a holds n1", "a holds n1", "b holds n1"))
    )
    assert isinstance(first, NewEvent)
    assert isinstance(again, Recount)
    assert isinstance(other, NewEvent)
    assert "b holds n1" in other.body["note"]
