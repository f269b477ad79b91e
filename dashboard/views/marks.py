"""How gangs are told apart on the map: a colour, a pattern and letters."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.model.gang import GangKey

COLOURS = 8
"""Hues of the style sheet, told apart by colour-blind eyes."""
PATTERNS = 4
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Marks:
    """A number for each gang, which it keeps for as long as it is there."""

    def __init__(self) -> None:
        self._numbers: dict[GangKey, int] = {}

    def keep(self, gangs: Iterable[GangKey]) -> None:
        """Number `gangs` in their order, and forget all others."""
        wanted = dict.fromkeys(gangs)
        kept = {key: number for key, number in self._numbers.items() if key in wanted}
        taken = set(kept.values())
        free = (number for number in range(len(wanted) + len(taken)) if number not in taken)
        for key in wanted:
            if key not in kept:
                kept[key] = next(free)
        self._numbers = kept

    def of(self, gang: GangKey) -> int:
        """The number of a gang that is kept."""
        return self._numbers[gang]


def letters(number: int) -> str:
    """`A` to `Z`, then `AA`, `AB`, ..."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(_LETTERS))
        text = _LETTERS[rest] + text
    return text


def style(number: int) -> str:
    """The classes of the style sheet for that number."""
    return f"m{number % COLOURS} p{number // COLOURS % PATTERNS}"
