"""Bandwidths of the config in Mbit/s."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

UNITS = {"Mb": 1, "Gb": 1000, "Tb": 1_000_000}


@cache
def mbit(text: str) -> int:
    """`"400Gb"` -> 400000. The config has checked the form."""
    return int(Decimal(text[:-2]) * UNITS[text[-2:]])
