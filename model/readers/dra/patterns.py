"""Patterns of `matches`, made once each: syntax RE2, as CEL has it, run by a library of one pass.

What is kept is made small first. Letters, digits and space are those of ASCII, as in RE2: those of
all scripts make a pattern of nine characters take 9 MiB.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, core_schema

from fourleaf.model.readers.dra.expression_text import BadExpression

MOST_CHARACTERS = 1_000
"""Of a pattern, once for each time that its counts repeat it."""

MOST_TEXT = 10_240
"""Characters of a text that is looked through."""

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_COUNT = re.compile(r"\{(\d*)(?:,(\d*))?\}")
_ASCII = {
    "w": "[0-9A-Za-z_]",
    "W": "[^0-9A-Za-z_]",
    "d": "[0-9]",
    "D": "[^0-9]",
    "s": r"[\t\n\f\r ]",
    "S": r"[^\t\n\f\r ]",
    "b": r"(?-u:\b)",
}
_SCRIPTS = frozenset("pPB")
"""Escapes that mean letters of any script, which are not known here."""


@lru_cache(maxsize=64)
def pattern(text: str) -> SchemaValidator:
    """A pattern that may be found anywhere in a text. Raises `BadExpression`."""
    repeats = 1
    for low, high in _COUNT.findall(_ESCAPE.sub("x", text)):
        numbers = [int(one) for one in (low, high) if one and len(one) < 6]
        repeats *= max(1, *numbers, 0) if numbers else MOST_CHARACTERS
    if len(text) * repeats > MOST_CHARACTERS:
        raise BadExpression(f"matches with more than {MOST_CHARACTERS:,} characters")
    if any(one in _SCRIPTS for one in _ESCAPE.findall(text)):
        raise BadExpression("matches with a class of letters of any script")
    plain = _ESCAPE.sub(lambda found: _ASCII.get(found[1], found[0]), text)
    try:
        return SchemaValidator(core_schema.str_schema(pattern=plain))
    except SchemaError:
        raise BadExpression("matches with what is no pattern") from None


def found_in(text: str, sought: str) -> bool:
    """Whether `sought`, a pattern, is found in `text`."""
    return len(text) <= MOST_TEXT and pattern(sought).isinstance_python(text)
