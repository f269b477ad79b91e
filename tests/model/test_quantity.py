"""Quantities and bandwidths are exact, and nothing else passes for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.quantity import BadQuantity, count, in_bytes, mbits, millicores


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("2", 2000),
        ("500m", 500),
        ("0.1", 100),
        (1.5, 1500),
        (3, 3000),
        ("1k", 1_000_000),
        ("100u", 1),
        ("1n", 1),
        ("+1", 1000),
    ],
)
def test_cpu_in_millicores(text: object, amount: int) -> None:
    """CPU counts in thousandths of a core; finer amounts round up, as in Kubernetes."""
    assert millicores(text) == amount


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1Ki", 1024),
        ("1.5Gi", 1_610_612_736),
        ("1G", 1_000_000_000),
        ("1e3", 1000),
        ("2E", 2 * 10**18),
        ("0.5", 1),
        (".5Ki", 512),
        ("128974848", 128_974_848),
    ],
)
def test_memory_in_bytes(text: object, amount: int) -> None:
    """Binary units are powers of 1024, decimal ones of 1000, and E alone is exa."""
    assert in_bytes(text) == amount


@pytest.mark.parametrize(
    ("text", "amount"), [("8", 8), (8, 8), ("1k", 1000), ("8000m", 8), (8.0, 8)]
)
def test_counts(text: object, amount: int) -> None:
    """A count may be written in any unit as long as it is whole."""
    assert count(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "-1", "--1", "1.5", "1/2", "0x8", "1_000", "٨", "\uff18", "²", "NaN", "Infinity",
        "1e", "1e999", "9" * 41, 2**63, -(2**70), float("nan"), float("inf"), -1, True, None,
        [], {}, "1 Gi", "1gi", "1GiB", "8\n8",
    ],
)  # fmt: skip
def test_what_is_no_count(text: object) -> None:
    """Negative, fractional, huge, non-ASCII and non-numeric amounts are refused with advice."""
    with pytest.raises(BadQuantity) as caught:
        count(text)
    assert caught.value.advice


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("100Gb", 100_000),
        ("200Gbps", 200_000),
        ("1Tb", 1_000_000),
        ("25Gb/s", 25_000),
        ("2.5Gb", 2_500),
        ("800Mb", 800),
        ("400 Gbit/s", 400_000),
    ],
)
def test_bandwidth_in_mbits(text: str, amount: int) -> None:
    """Bandwidths are bits per second in thousands."""
    assert mbits(text) == amount


@pytest.mark.parametrize(
    "text", ["", "100", "100GB", "100gb", "-1Gb", "0Gb", "0.5Mb", "1e3Gb", "٨Gb", "NaNGb"]
)
def test_what_is_no_bandwidth(text: str) -> None:
    """Bytes, missing units, zero and less than 1 Mbit/s are refused with advice."""
    with pytest.raises(BadQuantity) as caught:
        mbits(text)
    assert caught.value.advice


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none()))
def test_nothing_crashes(value: object) -> None:
    """Whatever is read is a whole amount from zero up to 2^63, or a BadQuantity."""
    for read in (millicores, in_bytes, count):
        try:
            amount = read(value)
        except BadQuantity:
            continue
        assert 0 <= amount < 2**63


@given(st.integers(0, 10**9), st.sampled_from([("Ki", 2**10), ("Mi", 2**20), ("k", 10**3)]))
def test_units_multiply(number: int, unit: tuple[str, int]) -> None:
    """A number with a unit is the number times the unit."""
    assert in_bytes(f"{number}{unit[0]}") == number * unit[1]
