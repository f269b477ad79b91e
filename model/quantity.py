"""Kubernetes quantities and bandwidths as exact integers."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from fourleaf.model.problems import AdvisedError, brief

MAX_AMOUNT = 2**63 - 1
"""Kubernetes stores quantities in 64 bits; nothing above that is a real amount."""

_BINARY: dict[str, int] = {
    unit: 1024**power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)
}
_DECIMAL: dict[str, Decimal] = {
    "n": Decimal(1).scaleb(-9),
    "u": Decimal(1).scaleb(-6),
    "m": Decimal(1).scaleb(-3),
    "": Decimal(1),
    **{
        unit: Decimal(10 ** (3 * power))
        for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), 1)
    },
}
_QUANTITY = re.compile(
    r"\+?([0-9]{1,40}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})([A-Za-z]*|[eE][+-]?[0-9]{1,2})"
)
_NEGATIVE = re.compile(r"-\s*[0-9.]")
_BANDWIDTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s?(Mb|Gb|Tb)(?:ps|/s|it/s)?")
_MANY_DIGITS = re.compile(r"[0-9]{10}|\.[0-9]{7}")
_MBIT = {"Mb": 1, "Gb": 1000, "Tb": 1_000_000}
_DURATION = re.compile(r"(?:([0-9]{1,4})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,7})m)?(?:([0-9]{1,9})s?)?")
_SECONDS = (86_400, 3600, 60, 1)


class BadQuantity(AdvisedError):
    """The text is no amount of the kind asked for. Its message says why; `advice` what helps."""


def exact(text: str) -> Decimal:
    """The amount that a quantity stands for, in its base unit. Raises `BadQuantity`."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        if _NEGATIVE.match(text):
            raise BadQuantity("is negative", "Give an amount of zero or more.")
        raise BadQuantity("is not a quantity", 'Write it like "8", "500m" or "64Gi".')
    number, unit = Decimal(match[1]), match[2]
    if unit in _BINARY:
        return number * _BINARY[unit]
    if unit in _DECIMAL:
        return number * _DECIMAL[unit]
    if unit[:1] in "eE" and unit[1:].lstrip("+-").isdigit():
        return number.scaleb(int(unit[1:]))
    raise BadQuantity(
        f"has the unknown unit {brief(unit, 20)}",
        "Units are m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei.",
    )


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadQuantity("is not a quantity", 'Write it like "8", "500m" or "64Gi".')
    if isinstance(value, int):
        if abs(value) > MAX_AMOUNT:
            raise BadQuantity("is too large", "Give an amount below 2^63.")
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise BadQuantity("is not a number", "Give a finite amount.")
        return format(Decimal(repr(value)), "f")
    return value.strip()


@lru_cache(maxsize=65536)
def _scaled(text: str, scale: int, whole: bool) -> int:
    amount = exact(text) * scale
    if amount > MAX_AMOUNT:
        raise BadQuantity("is too large", "Give an amount below 2^63.")
    down = int(amount)
    if amount == down:
        return down
    if whole:
        raise BadQuantity("is not a whole number", "Give a whole number.")
    return down + 1


def millicores(value: object) -> int:
    """CPU in millicores, rounded up as Kubernetes does: "2" is 2000, "500m" is 500.

    Raises `BadQuantity`.
    """
    return _scaled(_text(value), 1000, False)


def in_bytes(value: object) -> int:
    """Memory or storage in bytes, rounded up: "1Ki" is 1024. Raises `BadQuantity`."""
    return _scaled(_text(value), 1, False)


def count(value: object) -> int:
    """A whole count of devices or pods: "8", 8, "1k". Raises `BadQuantity`."""
    return _scaled(_text(value), 1, True)


def mbits(text: str) -> int:
    """Bandwidth in Mbit/s: "100Gb", "200Gbps", "1Tb". Raises `BadQuantity`."""
    return _mbits(text.strip())


# What is remembered is short: without the space around it, which may be as long as an annotation.
@lru_cache(maxsize=4096)
def _mbits(text: str) -> int:
    match = _BANDWIDTH.fullmatch(text)
    if match is None:
        if _MANY_DIGITS.search(text):
            advice = "Give at most 9 digits before the point and 6 after it."
            raise BadQuantity("has too many digits for a bandwidth", advice)
        raise BadQuantity("is not a bandwidth", 'Write it like "100Gb", "200Gbps" or "1Tb".')
    amount = Decimal(match[1]) * _MBIT[match[2]]
    whole = int(amount)
    if amount != whole:
        raise BadQuantity("is finer than 1 Mbit/s", "Give a whole number of Mbit/s.")
    if whole <= 0:
        raise BadQuantity("is zero", "Give a bandwidth above zero, or leave it out.")
    return whole


def seconds(text: str) -> float:
    """A span of time in seconds: "90m", "2h30m", "1d", "3600". Raises `BadQuantity`."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        raise BadQuantity("is not a span of time", 'Write it like "90m", "2h30m" or "1d".')
    total = sum(
        int(part) * unit for part, unit in zip(match.groups(), _SECONDS, strict=True) if part
    )
    if not total:
        raise BadQuantity("is zero", "Give a span above zero, or leave it out.")
    return float(total)
