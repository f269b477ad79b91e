"""The text of a CEL expression, and bounds on what it loops over, repeats and matches.

A short text can make much of itself: a name that is bound to twice another name doubles it, loops
inside loops multiply, and a pattern that counts costs what it counts to. Nothing here runs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_CHARACTERS = 10_240
"""Of an expression, as the API has it."""

MOST_LOOP_CHARACTERS = 1_000
"""Of an expression that goes through a list, which costs its length once more."""

MOST_REPEATS = 64
"""Times that an expression may come to say what it has bound, all binds multiplied."""

_QUOTED = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_LITERAL = (
    r"""(?:(?<!\w)(?:[bB]?[rR]|[rR][bB])(?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"[^"\n]*"|'[^'\n]*')"""
    r"""|\"{3}(?:[^\\]|\\[\s\S])*?\"{3}|'{3}(?:[^\\]|\\[\s\S])*?'{3}|"""
    rf"{_QUOTED})"
)
"""A string of any kind, raw and long ones too."""
STRINGS = re.compile(_LITERAL)
_STRING_OR_COMMENT = re.compile(rf"({_LITERAL})|//[^\n\r]*")
_LOOP = re.compile(
    r"\.\s*(?:all|exists|exists_one|existsOne|map|filter)\s*\((?:\s*([A-Za-z_]\w*)\s*,)?"
)
_BIND = "cel.bind("
_MATCHES = re.compile(r"\bmatches(\s*\()")
PATTERN_FUNCTION = "matchesPattern"
"""What stands for `matches`: a function of ours, whose patterns were made before."""


class BadExpression(Exception):
    """An expression that cannot be run here; the text says why."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """An expression that makes little of itself: what the library runs, and the names in it.

    `patterns` are the string literals that something is matched with, as they are written.
    """

    text: str
    names: frozenset[str]
    patterns: tuple[str, ...]


def without_comments(text: str) -> str:
    """The expression with a space for each comment."""
    return _STRING_OR_COMMENT.sub(lambda found: found[1] or " ", text)


def bounded(text: str) -> Bounded:
    """What there is to run of an expression without comments. Raises `BadExpression`."""
    if len(text) > MOST_CHARACTERS:
        raise BadExpression(f"has more than {MOST_CHARACTERS:,} characters")
    bare = STRINGS.sub('""', text)
    if PATTERN_FUNCTION in bare:
        raise BadExpression(f"calls {PATTERN_FUNCTION}, which is not known here")
    loops = _LOOP.findall(bare)
    if len(loops) > 1 or (loops and len(text) > MOST_LOOP_CHARACTERS):
        raise BadExpression("goes through more than one short list")
    text, patterns = _with_patterns(text)
    text, bound = _without_binds(text)
    return Bounded(text, frozenset({*filter(None, loops), *bound}), patterns)


def _with_patterns(text: str) -> tuple[str, tuple[str, ...]]:
    """`matches` as the function of ours, and the literals that are its last arguments."""
    quoted = _quoted(text)
    found = [one for one in _MATCHES.finditer(text) if one.start() not in quoted]
    patterns = []
    for one in found:
        parts = _arguments(text, one.end())
        last = parts[-2].strip() if parts and len(parts) > 1 else ""
        if not STRINGS.fullmatch(last):
            raise BadExpression("matches with what is no string literal")
        patterns.append(last)
    for one in reversed(found):
        text = f"{text[: one.start()]}{PATTERN_FUNCTION}{text[one.start(1) :]}"
    return text, tuple(patterns)


def _without_binds(text: str) -> tuple[str, set[str]]:
    """`cel.bind(x, value, rest)` as `[value].map(x, rest)[0]`, and the names that are bound."""
    names: set[str] = set()
    repeats = 1
    for _ in range(text.count(_BIND)):
        start = text.rfind(_BIND)
        parts = _arguments(text, start + len(_BIND))
        if parts is None or len(parts) != 4:
            raise BadExpression("has a cel.bind that is not closed")
        name, value, rest, after = parts
        name = name.strip()
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise BadExpression("has a cel.bind without a name")
        repeats *= max(1, len(re.findall(rf"\b{name}\b", STRINGS.sub('""', rest))))
        if repeats > MOST_REPEATS:
            raise BadExpression(f"says what it has bound more than {MOST_REPEATS} times")
        names.add(name)
        text = f"{text[:start]}[{value}].map({name}, {rest})[0]{after}"
    return text, names


def _quoted(text: str) -> set[int]:
    return {i for match in STRINGS.finditer(text) for i in range(*match.span())}


def _arguments(text: str, start: int) -> list[str] | None:
    """What stands between commas up to the parenthesis that closes, and what comes after that."""
    quoted = _quoted(text)
    parts: list[str] = []
    depth = 0
    for i in range(start, len(text)):
        letter = " " if i in quoted else text[i]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return [*parts, text[start:i], text[i + 1 :]]
        elif letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return None
