"""Device selectors: conditions joined by `&&`, each about one device.

Those on its driver, on an attribute that has or has not a value or is there, and on a capacity that
is large enough are data, which claims for GPUs are read by, and cost next to nothing; that covers
the classes that GPU drivers install. All others are CEL, and are run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fourleaf.model.quantity import BadQuantity, in_bytes
from fourleaf.model.readers.dra.expression_text import BadExpression
from fourleaf.model.readers.dra.expressions import Expression, checked
from fourleaf.model.readers.objects.manifest import Body

Value = str | bool | int

_TEXT = r"""(?:"([^"\\]*)"|'([^'\\]*)')"""
_NAME = r"([A-Za-z_][A-Za-z0-9_]*)"
_OF = rf"\[\s*{_TEXT}\s*\]"
_DRIVER = re.compile(rf"device\.driver\s*(==|!=)\s*{_TEXT}")
_ATTRIBUTE = re.compile(
    rf"device\.attributes{_OF}\.{_NAME}(?:\s*(==|!=)\s*(?:{_TEXT}|(true|false)|(-?[0-9]{{1,18}})))?"
)
_PRESENT = re.compile(rf"{_TEXT}\s+in\s+device\.attributes{_OF}")
_CAPACITY = re.compile(
    rf"device\.capacity{_OF}\.{_NAME}\.compareTo\(\s*quantity\(\s*{_TEXT}\s*\)\s*\)\s*>=\s*0"
)
_VALUES = ("string", "bool", "int")
_HARD_TO_CUT = re.compile(r"\\|//|\"{3}|'{3}")
"""Escapes, comments and long strings, after which a quote need not be one."""

MOST_PARENTHESES = 16
"""Parentheses around parentheses that are looked into."""


MOST_QUOTED = 80
"""Characters of a selector that are told of one that is not understood."""


class NotUnderstood(Exception):
    """A selector that cannot be run here; the text quotes it, and says why."""


@dataclass(frozen=True, slots=True)
class Least:
    """A capacity of `domain` that must be there to at least `amount`."""

    domain: str
    name: str
    amount: int

    def __call__(self, driver: str, device: Body) -> bool:
        """Whether the device has as much."""
        found = _of(device.get("capacity"), driver, self.domain, self.name)
        try:
            return isinstance(found, dict) and in_bytes(found.get("value")) >= self.amount
        except BadQuantity:
            return False


@dataclass(frozen=True, slots=True)
class Has:
    """An attribute of `domain` that must be there; with `value`, be that or, `negated`, not."""

    domain: str
    name: str
    value: Value | None = None
    negated: bool = False

    def __call__(self, driver: str, device: Body) -> bool:
        """Whether the device is so; one without the attribute is not."""
        found = _of(device.get("attributes"), driver, self.domain, self.name)
        if not isinstance(found, dict):
            return False
        value = next((found[key] for key in _VALUES if key in found), None)
        if self.value is None:
            return True
        same = type(value) is type(self.value) and value == self.value
        return value is not None and same is not self.negated


@dataclass(frozen=True, slots=True)
class OfDriver:
    """A device of the driver `name` or, `negated`, of any other."""

    name: str
    negated: bool = False

    def __call__(self, driver: str, _device: Body) -> bool:
        """Whether the device is."""
        return (driver == self.name) is not self.negated


Condition = Least | Has | OfDriver | Expression


def _of(held: object, driver: str, domain: str, name: str) -> object:
    """What a device says under a name, which stands without its domain where that is the driver."""
    if not isinstance(held, dict):
        return None
    found = held.get(f"{domain}/{name}")
    return held.get(name) if found is None and domain == driver else found


@lru_cache(maxsize=1024)
def conditions(expression: str) -> tuple[Condition, ...]:
    """What an expression demands. Raises `NotUnderstood`."""
    parts = [expression] if _HARD_TO_CUT.search(expression) else _parts(expression)
    return tuple(_condition(part.strip()) for part in parts)


def _parts(expression: str, depth_left: int = MOST_PARENTHESES) -> list[str]:
    """The conditions between `&&`, also where one is in parentheses or on a line of its own."""
    text = expression.strip()
    while text.startswith("(") and _closes(text):
        depth_left -= 1
        if depth_left < 0:
            raise NotUnderstood(f"{text[:MOST_QUOTED]!r}, which has too many parentheses,")
        text = text[1:-1].strip()
    parts, start = [], 0
    for i, depth in _outside_quotes(text):
        # What binds less than `&&` has it inside.
        if depth == 0 and (text[i] == "?" or text.startswith("||", i)):
            return [text]
        if depth == 0 and i >= start and text.startswith("&&", i):
            parts.append(text[start:i])
            start = i + 2
    parts.append(text[start:])
    if len(parts) == 1:
        return parts
    return [one for part in parts for one in _parts(part, depth_left)]


def _closes(text: str) -> bool:
    """Whether the parenthesis that `text` begins with ends with it."""
    ends = (i for i, depth in _outside_quotes(text) if depth == 0)
    return next(ends, None) == len(text) - 1


def _outside_quotes(text: str) -> Iterator[tuple[int, int]]:
    """The position of each letter outside of quotes, and how many parentheses are open after it."""
    depth, quote = 0, ""
    for i, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter == "(") - (letter == ")")
            yield i, depth


def _condition(part: str) -> Condition:
    if match := _DRIVER.fullmatch(part):
        operator, *text = match.groups()
        return OfDriver(_first(text), operator == "!=")
    if match := _PRESENT.fullmatch(part):
        name, domain = _first(match.groups()[:2]), _first(match.groups()[2:])
        return Has(domain, name)
    if match := _CAPACITY.fullmatch(part):
        domain = _first(match.groups()[:2])
        try:
            return Least(domain, match[3], in_bytes(_first(match.groups()[3:])))
        except BadQuantity as error:
            raise NotUnderstood(f"{part[:MOST_QUOTED]!r}, whose quantity {error},") from None
    if match := _ATTRIBUTE.fullmatch(part):
        domain, name, operator = _first(match.groups()[:2]), match[3], match[4]
        if operator is None:
            return Has(domain, name, True)
        value: Value = _first(match.groups()[4:6])
        if match[7] is not None:
            value = match[7] == "true"
        elif match[8] is not None:
            value = int(match[8])
        return Has(domain, name, value, operator == "!=")
    try:
        return checked(part)
    except BadExpression as error:
        raise NotUnderstood(f"{part[:MOST_QUOTED]!r}, which {error},") from None


def _first(found: Sequence[str | None]) -> str:
    return next((one for one in found if one is not None), "")
