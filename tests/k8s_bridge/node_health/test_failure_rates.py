"""Failures count half after a half-life, and outlast the leader."""

from __future__ import annotations

import orjson
import pytest

from fourleaf.k8s_bridge.node_health.failure_rates import FailureRates

DAY = 86_400.0


def test_rates_by_hand() -> None:
    """1000 (1 - 2^-s): one failure now 500, two 750, one a half-life ago 293, a leaf's half 293."""
    failures = FailureRates(half_life=DAY)
    failures.failed(["a"], [], 0)
    assert failures.permille("a", "l", 0) == 500
    assert failures.permille("a", "l", DAY) == 293
    assert failures.permille("b", "l", 0) == 0
    failures.failed(["a"], ["l"], 0)
    assert failures.permille("b", "l", 0) == 293
    assert failures.permille("a", "m", 0) == 750


def test_what_is_written_is_what_is_read() -> None:
    """But scores that have faded."""
    failures = FailureRates(half_life=DAY)
    failures.failed(["old"], [], 0)
    failures.failed(["a", "b"], ["l"], 8 * DAY)
    again = FailureRates(half_life=DAY)
    assert again.read(orjson.dumps(failures.content(8 * DAY)).decode())
    assert sorted(again.nodes) == ["a", "b"]
    assert again.permille("a", "l", 8 * DAY) == failures.permille("a", "l", 8 * DAY)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"nodes": {"a": 1}}',
        "{",
        '{"nodes": {"a": [-2000, 1]}}',
        '{"nodes": {"a": [NaN, 1]}}',
        '{"leaves": {"a": [1, Infinity]}}',
        '{"nodes": {"b": [1, 1], "a": [1e300, 1]}}',
    ],
)
def test_nonsense_is_refused(text: str) -> None:
    """And nothing is taken of it."""
    failures = FailureRates(half_life=DAY)
    assert not failures.read(text)
    assert not failures.nodes


def test_what_is_read_is_added_to_what_failed_since() -> None:
    """One failure a half-life ago is worth a half: with one just now 1.5, or 1000 (1 - 2^-1.5)."""
    before, now = FailureRates(half_life=DAY), FailureRates(half_life=DAY)
    before.failed(["a", "b"], ["l"], 0)
    now.failed(["a", "c"], ["l"], DAY)
    assert now.read(orjson.dumps(before.content(0)).decode())
    assert now.nodes["a"].by(DAY, DAY) == now.leaves["l"].by(DAY, DAY) == 1.5
    assert now.permille("a", "m", DAY) == 646
    assert now.permille("b", "m", DAY) == 293
    assert now.permille("c", "m", DAY) == 500


def test_a_failure_of_a_clock_that_was_ahead_fades_once_it_is_set_right() -> None:
    """It counts as one of now, not as one of a year from now."""
    failures = FailureRates(half_life=DAY)
    failures.failed(["a"], [], 365 * DAY)
    assert failures.permille("a", "l", 0) == 500
    assert failures.permille("a", "l", DAY) == 293


def test_nodes_that_come_under_ever_new_names_are_forgotten() -> None:
    """One fails each day; after seven half-lives it is below a hundredth."""
    failures = FailureRates(half_life=DAY)
    for day in range(100):
        failures.failed([f"spot-{day}"], [f"leaf-{day}"], day * DAY)
    assert sorted(failures.nodes) == [f"spot-{day}" for day in range(93, 100)]
    assert len(failures.leaves) == 7
