"""Hostlist expressions of Slurm: `gpu[001-128,200],login1` names 130 hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from fourleaf.model.problems import AdvisedError
from fourleaf.model.topology_import.text import MAX_NODES

_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_PARTS = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_TAIL = re.compile(r"[0-9]+$")
MAX_BRACKETS = 4
RANGE_ADVICE = "Write ranges from the smaller to the larger number, like [001-128,200]."


class BadHostlist(AdvisedError):
    """The expression cannot be expanded. `advice` says what helps."""


def expand(text: str, most: int = MAX_NODES) -> list[str]:
    """The names that `text` stands for, in its order.

    A number keeps the width of the first one of its range, as in Slurm. Counts before it
    builds: more than `most` names raise `BadHostlist`, as does what cannot be parsed.
    """
    found: list[str] = []
    for one in _split(text):
        choices = [_numbers(part) if ranged else [part] for ranged, part in _parts(one, most)]
        many = 1
        for choice in choices:
            many *= len(choice)
        if len(found) + many > most:
            raise _too_many(most)
        found.extend("".join(parts) for parts in product(*choices))
    return found


def _too_many(most: int) -> BadHostlist:
    return BadHostlist(f"names more than {most} hosts", "Check the ranges for a digit too many.")


def _split(text: str) -> Iterator[str]:
    """The expressions between commas that stand outside of brackets."""
    start = depth = 0
    for position, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth not in (0, 1):
            raise BadHostlist("has brackets that do not match", RANGE_ADVICE)
        if char == "," and not depth:
            yield _filled(text[start:position])
            start = position + 1
    if depth:
        raise BadHostlist("has brackets that do not match", RANGE_ADVICE)
    yield _filled(text[start:])


def _filled(text: str) -> str:
    if not text.strip():
        raise BadHostlist("has an empty name", "Take out the comma too many.")
    return text.strip()


def _parts(text: str, most: int) -> list[tuple[bool, str]]:
    """What stands in brackets (True) and between them."""
    found = [
        (one[2] is None, one[1] if one[2] is None else one[2]) for one in _PARTS.finditer(text)
    ]
    ranges = [part for ranged, part in found if ranged]
    if len(ranges) > MAX_BRACKETS:
        raise BadHostlist(f"has more than {MAX_BRACKETS} brackets in one name", RANGE_ADVICE)
    for part in ranges:
        if sum(1 + int(high) - int(low) for low, high, _ in _bounds(part)) > most:
            raise _too_many(most)
    return found


def _bounds(part: str) -> Iterator[tuple[str, str, int]]:
    """(first, last, width) of each range of a bracket."""
    for one in part.split(","):
        matched = _RANGE.fullmatch(one.strip())
        if matched is None:
            raise BadHostlist(f"has '{one.strip()[:40]}' where a range should stand", RANGE_ADVICE)
        low, high = matched[1], matched[2] or matched[1]
        if int(high) < int(low):
            raise BadHostlist(f"has the range {low}-{high}, which runs backwards", RANGE_ADVICE)
        yield low, high, len(low)


def _numbers(part: str) -> list[str]:
    return [
        f"{number:0{width}d}"
        for low, high, width in _bounds(part)
        for number in range(int(low), int(high) + 1)
    ]


def folded(names: Iterable[str]) -> str:
    """`names` as a hostlist: numbers that end a name and follow each other become a range."""
    found: dict[str, list[str]] = {}
    plain: list[str] = []
    for name in names:
        number = _TAIL.search(name)
        if number is None or len(number[0]) > 18:
            plain.append(name)
        else:
            found.setdefault(name[: number.start()], []).append(number[0])
    shown: list[str] = []
    for stem, digits in found.items():
        padded = any(len(one) > 1 and one[0] == "0" for one in digits)
        widths = sorted({len(one) for one in digits}) if padded else [1]
        for width in widths:
            own = {int(one) for one in digits if not padded or len(one) == width}
            shown.append(f"{stem}{_ranges(sorted(own), width)}")
    return ",".join(shown + plain)


def _ranges(numbers: list[int], width: int) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    texts = [f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in runs]
    return texts[0] if len(numbers) == 1 else f"[{','.join(texts)}]"
