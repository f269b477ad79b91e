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


def test_a_node_that_flapped_for_a_day_is_forgiven() -> None:
    """It has failed each minute; eight half-lives later that is less than four failures."""
    rates = FailureRates(7 * DAY)
    for minute in range(1440):
        rates.failed(["a"], [], 60.0 * minute)
    assert rates.permille("a", "l", DAY + 56 * DAY) < 100


def test_thousands_of_nodes_that_failed_fit_into_one_lease() -> None:
    """Those that failed last are kept."""
    rates = FailureRates(7 * DAY)
    nodes = [f"gpu-node-{i:05}.dc1.example.com" for i in range(4000)]
    rates.failed(nodes[:3999], [], 0.0)
    rates.failed(nodes[3999:], [], 5 * DAY)
    rates.lost = frozenset(nodes)
    kept = orjson.dumps(rates.content(5 * DAY))
    assert 80_000 < len(kept) < 256 * 1024
    after = FailureRates(7 * DAY)
    assert after.read(kept.decode())
    assert after.permille(nodes[3999], "l", 5 * DAY) == 500


@pytest.mark.parametrize("at", ["1e300", "-1e300", "1e16"])
def test_a_time_that_could_not_be_written_again_is_refused(at: str) -> None:
    """A leader would read it, and fail as it saves it."""
    assert not FailureRates(DAY).read(f'{{"nodes": {{"a": [1, {at}]}}}}')
