"""The characters that the output is drawn with, in Unicode and in plain ASCII."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of characters. `bars` are told apart without colour, one per term."""

    free: str
    partly: str
    busy: str
    cordoned: str
    not_ready: str
    several: str
    bars: str
    rest: str
    times: str
    to: str


UNICODE = Glyphs("·", "▄", "█", "◌", "!", "*", "█▓▒░▚▞", "·", "×", "–")
ASCII = Glyphs(".", "+", "#", "-", "!", "*", "#=+:%@", ".", "x", "-")

PALETTE = (
    "bright_cyan",
    "bright_yellow",
    "bright_green",
    "bright_magenta",
    "orange1",
    "deep_sky_blue1",
    "spring_green2",
    "hot_pink",
    "khaki1",
    "medium_purple1",
    "turquoise2",
    "salmon1",
)
"""Backgrounds on which black letters can be read; gangs take them in turn."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def glyphs_for(encoding: str) -> Glyphs:
    """The richest set that `encoding` can carry."""
    return UNICODE if encoding.lower().startswith("utf") else ASCII
