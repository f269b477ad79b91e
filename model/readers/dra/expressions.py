"""CEL expressions about one device, run by a library, with the functions that Kubernetes adds.

The library knows neither quantities nor versions: they are maps of one key here, and the functions
on them are ours. What a driver does not publish is an error in CEL, and the device does not match.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from fourleaf.model.quantity import BadQuantity, exact
from fourleaf.model.readers.dra.expression_text import (
    PATTERN_FUNCTION,
    STRINGS,
    BadExpression,
    bounded,
    without_comments,
)
from fourleaf.model.readers.dra.patterns import found_in, pattern
from fourleaf.model.readers.objects.manifest import Body

if TYPE_CHECKING:
    from cel import Program

MOST_ANSWERS = 4_096
"""Answers that are kept, 2 KiB each: devices of one product differ in what few look at."""

MOST_PROGRAMS = 128
"""Expressions that are kept ready to run, up to 1 MiB each: those of DeviceClasses, no more."""

MOST_NAMED = 64
"""Characters of a name that are told of one that is not known."""

MOST_PATTERNS = 8
"""Patterns in one expression."""

_QUOTED = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_DOMAIN = re.compile(rf"device\s*\.\s*(attributes|capacity)\s*\[\s*({_QUOTED})\s*\]")
_PLAIN = re.compile(
    rf"device\s*\.\s*(?:driver|(?:attributes|capacity)\s*\[\s*{_QUOTED}\s*\]\s*\.\s*\w+)"
)
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,17})")
_SEMVER = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")


def _quantity(text: str) -> dict[str, str]:
    return {"quantity": str(exact(text).normalize())}


def _semver(text: str) -> dict[str, str]:
    if _SEMVER.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is no version")
    return {"version": text}


def _reads(make: Callable[[str], object]) -> Callable[[str], bool]:
    """The function of CEL that says whether `make` can read a text."""

    def is_made(text: str) -> bool:
        try:
            make(text)
        except (ValueError, InvalidOperation, BadQuantity):
            return False
        return True

    return is_made


def _parts(version: str) -> tuple[int, int, int, tuple[tuple[int, int, str], ...]]:
    """The order of versions by semver.org: numbers, then what is before a release."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        raise ValueError(version)
    before = match[4]
    named = (
        tuple(
            (0, int(one), "") if _NUMBER.fullmatch(one) else (1, 0, one)
            for one in before.split(".")
        )
        if before
        else ((2, 0, ""),)
    )
    return int(match[1]), int(match[2]), int(match[3]), named


def _compared(one: dict[str, str], other: dict[str, str]) -> int:
    if "quantity" in one:
        a, b = Decimal(one["quantity"]), Decimal(other["quantity"])
        return (a > b) - (a < b)
    first, second = _parts(one["version"]), _parts(other["version"])
    return (first > second) - (first < second)


def _sum(one: dict[str, str], other: dict[str, str] | int, sign: int = 1) -> dict[str, str]:
    more = Decimal(other) if isinstance(other, int) else Decimal(other["quantity"])
    return {"quantity": str((Decimal(one["quantity"]) + sign * more).normalize())}


def _as_integer(one: dict[str, str]) -> int:
    amount = Decimal(one["quantity"])
    if amount != int(amount):
        raise ValueError("the quantity is not whole")
    return int(amount)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "quantity": _quantity,
    "isQuantity": _reads(_quantity),
    "semver": _semver,
    "isSemver": _reads(_semver),
    "compareTo": _compared,
    "isGreaterThan": lambda one, other: _compared(one, other) > 0,
    "isLessThan": lambda one, other: _compared(one, other) < 0,
    "add": _sum,
    "sub": lambda one, other: _sum(one, other, -1),
    "sign": lambda one: (Decimal(one["quantity"]) > 0) - (Decimal(one["quantity"]) < 0),
    "asInteger": _as_integer,
    "isInteger": lambda one: Decimal(one["quantity"]) == int(Decimal(one["quantity"])),
    PATTERN_FUNCTION: found_in,
    "asApproximateFloat": lambda one: float(one["quantity"]),
    "major": lambda one: _parts(one["version"])[0],
    "minor": lambda one: _parts(one["version"])[1],
    "patch": lambda one: _parts(one["version"])[2],
}
_OF_THE_LIBRARY = {
    "charAt": "char_at",
    "indexOf": "index_of",
    "lastIndexOf": "last_index_of",
    "lowerAscii": "lower_ascii",
    "substring": "substring",
    "trim": "trim",
    "upperAscii": "upper_ascii",
}
"""What Kubernetes adds to CEL for selectors, but for what a short text can make long."""

_KNOWN = frozenset({*_FUNCTIONS, *_OF_THE_LIBRARY}) | {
    "bool", "contains", "double", "endsWith", "has", "int", "size", "startsWith", "string", "type",
}  # fmt: skip
"""What may be called, beside operators, which the library writes with an underscore or `@`."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that says of a device whether it will do."""

    text: str

    def __call__(self, driver: str, device: Body) -> bool:
        """Whether it is true of the device; an error and any other value is not."""
        if _looks_at_little(self.text):
            held = {part: _named(device.get(part), driver, self.text) for part in _PARTS}
        else:
            held = {part: _by_domain(device.get(part), driver) for part in _PARTS}
        for part, domain in _domains(self.text):
            held[part].setdefault(domain, {})
        about = {"driver": driver, "allowMultipleAllocations": False, **held}
        if device.get("allowMultipleAllocations") is True:
            about["allowMultipleAllocations"] = True
        return _answer(self.text, orjson.dumps(about, option=orjson.OPT_SORT_KEYS))


_PARTS = ("attributes", "capacity")


@lru_cache(maxsize=1024)
def checked(text: str) -> Expression:
    """An expression that can be run. Raises `BadExpression`."""
    text = without_comments(text)
    _program(text)
    return Expression(text)


@lru_cache(maxsize=MOST_PROGRAMS)
def _program(text: str) -> Program:
    ours = bounded(text)
    if len(ours.patterns) > MOST_PATTERNS:
        raise BadExpression(f"matches with more than {MOST_PATTERNS} patterns")
    # It brings a command line of its own, which takes longer to import than most verbs run.
    import cel

    try:
        program = cel.compile(ours.text)
        patterns = [cel.evaluate(one) for one in ours.patterns]
    except BaseException as error:  # noqa: BLE001 - so are the panics of the library
        raise BadExpression("is no CEL") from _fault(error)
    called = {one for one in program.functions() if one[0] not in "_@!-"}
    if strange := sorted(called - _KNOWN):
        raise BadExpression(f"calls {strange[0][:MOST_NAMED]}, which is not known here")
    if strange := sorted(set(program.variables()) - {"device", *ours.names}):
        raise BadExpression(f"names {strange[0][:MOST_NAMED]}, and there is only device")
    for one in patterns:
        pattern(str(one))
    return program


def _fault(error: BaseException) -> BaseException:
    """What the library could not do; what is meant for this thread goes on."""
    if isinstance(error, Exception) or type(error).__name__ == "PanicException":
        return error
    raise error


@lru_cache(maxsize=MOST_ANSWERS)
def _answer(text: str, about: bytes) -> bool:
    from cel import Context

    context = Context({"device": orjson.loads(about)}, _functions())
    try:
        return _program(text).execute(context) is True
    except BaseException as error:  # noqa: BLE001 - so are the panics of the library
        _fault(error)
        return False


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., Any]]:
    from cel import stdlib

    # An error in CEL is an answer, one for each device, and no line of a log.
    logging.getLogger("cel").setLevel(logging.CRITICAL)
    library = {name: getattr(stdlib, here) for name, here in _OF_THE_LIBRARY.items()}
    return {**_FUNCTIONS, **library}


@lru_cache(maxsize=1024)
def _domains(text: str) -> tuple[tuple[str, str], ...]:
    """The domains that an expression names: where a device has nothing of one, that is empty."""
    return tuple({(part, quoted[1:-1]) for part, quoted in _DOMAIN.findall(text)})


@lru_cache(maxsize=1024)
def _looks_at_little(text: str) -> bool:
    """Whether all that is looked at stands in the expression by its name."""
    return len(re.findall(r"\bdevice\b", STRINGS.sub('""', text))) == len(_PLAIN.findall(text))


def _named(held: object, driver: str, text: str) -> dict[str, dict[str, object]]:
    """Of what a device has, what an expression may name, so that like devices share an answer."""
    return {
        domain: {name: value for name, value in some.items() if name in text}
        for domain, some in _by_domain(held, driver).items()
        if domain in text
    }


def _by_domain(held: object, driver: str) -> dict[str, dict[str, object]]:
    """What a device has, by domain, which is the driver's where a name has none."""
    found: dict[str, dict[str, object]] = {}
    for key, body in held.items() if isinstance(held, dict) else ():
        domain, _, name = key.rpartition("/")
        value = _value(body)
        if value is not None:
            found.setdefault(domain or driver, {})[name] = value
    return found


def _value(body: object) -> object:
    """An attribute's or a capacity's value, None where it is none."""
    if not isinstance(body, dict):
        return None
    if "value" in body:
        try:
            return _quantity(str(body["value"]))
        except (BadQuantity, InvalidOperation):
            return None
    if "version" in body:
        return {"version": str(body["version"])}
    value = next((body[key] for key in ("string", "bool", "int") if key in body), None)
    return value if isinstance(value, str | bool | int) else None
