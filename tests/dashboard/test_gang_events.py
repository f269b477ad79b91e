"""Events of one gang, among all that tenants may write."""

from __future__ import annotations

from typing import Any

from fourleaf.dashboard.sources.lease_records import MOST_EVENTS, events_of
from fourleaf.model.gang import GangKey

GANG = GangKey("ml", "train")


def event(number: int, **about: Any) -> dict[str, Any]:
    """An event about the gang's pod, or what `about` says instead."""
    return {
        "metadata": {"name": f"e{number}", "namespace": "ml"},
        "regarding": {"kind": "Pod", "namespace": "ml", "name": "train-0", **about},
        "eventTime": f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z",
        "reason": f"r{number}",
    }


def test_events_about_pods_of_others_are_none_of_the_gang() -> None:
    """Another namespace, kind or pod of nearly the same name, and nothing at all."""
    others = [
        event(1, namespace="evil"),
        event(2, kind="Job"),
        event(3, name="train-00"),
        {"metadata": {"name": "e4"}, "reason": "r4"},
    ]
    found = events_of(GANG, ["train-0"], [*others, event(5)])
    assert [one.reason for one in found] == ["r5"]


def test_the_newest_events_are_shown() -> None:
    """Fifty of sixty, however many a tenant writes about its own pod."""
    found = events_of(GANG, ["train-0"], [event(number) for number in range(60)])
    assert [one.reason for one in found] == [f"r{59 - number}" for number in range(MOST_EVENTS)]
