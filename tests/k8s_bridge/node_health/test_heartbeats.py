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
