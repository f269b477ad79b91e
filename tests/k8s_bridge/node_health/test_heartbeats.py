"""Silence is what we have heard ourselves, and counts only while somebody is heard."""

from __future__ import annotations

from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats


def test_silence_is_counted_from_the_last_change() -> None:
    """The same renewal twice is one beat."""
    heartbeats = Heartbeats()
    heartbeats.heard("a", "1", 0)
    heartbeats.heard("b", "1", 5)
    heartbeats.heard("a", "1", 8)
    assert heartbeats.silence("a", 10) == 10
    assert heartbeats.silence("b", 10) == 5
    assert heartbeats.silence("c", 10) is None


def test_a_silence_of_everybody_counts_for_nobody() -> None:
    """Heard last at 0; at 30 one is heard again: the others have the whole time again."""
    heartbeats = Heartbeats()
    for name in "abc":
        heartbeats.heard(name, "1", 0)
    assert heartbeats.silence("a", 30) == 0
    heartbeats.heard("b", "2", 30)
    assert heartbeats.silence("a", 31) == 1
    assert heartbeats.silence("a", 41) == 11


def test_a_lease_that_is_gone_is_forgotten() -> None:
    """By its own event, or because a list lacks it."""
    heartbeats = Heartbeats()
    heartbeats.heard_all({"a": "1", "b": "1"}, 0)
    heartbeats.forget("a")
    heartbeats.heard_all({}, 1)
    assert (heartbeats.silence("a", 2), heartbeats.silence("b", 2)) == (None, None)


def test_after_a_minute_without_any_heartbeat_it_is_not_known_who_is_silent() -> None:
    """Leases may not be read any more: the node controller decides alone, until one is heard."""
    heartbeats = Heartbeats()
    heartbeats.heard("a", "1", 0)
    heartbeats.heard("b", "1", 0)
    assert heartbeats.silence("a", 60) == 0
    assert heartbeats.silence("a", 60.1) is None
    heartbeats.heard("b", "2", 70)
    assert heartbeats.silence("a", 71) == 1


def test_a_kubelet_that_renews_each_15_s_hides_no_silence_of_the_other() -> None:
    """`b` gets the whole limit again at 15; later, 12 of each 15 s between heartbeats count."""
    heartbeats = Heartbeats()
    heartbeats.heard("b", "1", 0)
    found = []
    for now in (0, 15, 30, 45):
        heartbeats.heard("a", str(now), now)
        found.append(heartbeats.silence("b", now))
    assert found == [0, 0, 12, 24]


def test_who_was_heard_between_two_common_silences_has_the_whole_limit_again() -> None:
    """`b` is heard at 35, and nothing from 40 to 70."""
    heartbeats = Heartbeats()
    for name, now in [("a", 0), ("b", 0), ("a", 30), ("b", 35), ("a", 40), ("a", 70)]:
        heartbeats.heard(name, str(now), now)
    assert heartbeats.silence("b", 70) == 0
