"""The commands of a page: what a reader is told to type, and what is to come of it.

Commands stand in blocks of ```console, each after `$ `; what follows a command up to the next
one is what it prints (`outputs` says how exactly), but for the body of a here-document, which is
its own. A comment right before a block says what is special about it:

    <!-- try: exit 3 -->                   each command ends with 3
    <!-- try: until "leads" -->            it runs until the page ends; wait for that in its output
    <!-- try: within 60 -->                seconds until it succeeds, tried again each second
    <!-- try: not here, it takes an hour -->   it is not run, for that reason

A comment `<!-- try on: cluster -->` anywhere gives the page a cluster of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

PROMPT = "$ "
HERE = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
DIRECTIVE = re.compile(r"^<!-- try: (?P<what>.+?) -->$")
CLUSTER = "<!-- try on: cluster -->"


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a page, at `line` (from 1), and what the page shows of its output."""

    line: int
    command: str
    exit_code: int = 0
    until: str | None = None
    within: int = 0
    skipped: str | None = None
    prints: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The commands of one document, in its order, and whether they need a cluster."""

    path: Path
    steps: tuple[Step, ...]
    needs_cluster: bool


class PageError(ValueError):
    """A page has a comment or a block that means nothing; the message names file and line."""


def read_page(path: Path) -> Page:
    """Read a document. Raises `PageError`."""
    text = path.read_text()
    steps: list[Step] = []
    special: tuple[int, str] | None = None
    block: list[tuple[int, str]] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if block is not None:
            if line == "```":
                steps += _steps(path, block, special)
                block = special = None
            else:
                block.append((number, line))
        elif line == "```console":
            block = []
        elif found := DIRECTIVE.match(line):
            special = (number, found["what"])
        elif line and special is not None:
            raise PageError(f"{path}:{special[0]}: no block of commands after this comment")
    return Page(path, tuple(steps), CLUSTER in text)


def _steps(path: Path, block: list[tuple[int, str]], special: tuple[int, str] | None) -> list[Step]:
    options = _options(path, special)
    steps: list[Step] = []
    rest = iter(block)
    for number, line in rest:
        if not line.startswith(PROMPT):
            if steps:
                steps[-1] = replace(steps[-1], prints=f"{steps[-1].prints}{line}\n")
            continue
        lines = [line.removeprefix(PROMPT)]
        while lines[-1].endswith("\\"):
            lines.append(next(rest)[1])
        if marks := HERE.search(lines[-1]):
            while lines[-1] != marks[1]:
                lines.append(next(rest)[1])
        steps.append(Step(number, "\n".join(lines), **options))
    if not steps:
        raise PageError(f"{path}:{block[0][0] if block else '?'}: a console block has no `$ `")
    return steps


def _options(path: Path, special: tuple[int, str] | None) -> dict[str, str | int]:
    if special is None:
        return {}
    line, what = special
    if found := re.fullmatch(r"exit (\d+)", what):
        return {"exit_code": int(found[1])}
    if found := re.fullmatch(r'until "(.+)"', what):
        return {"until": found[1]}
    if found := re.fullmatch(r"within (\d+)", what):
        return {"within": int(found[1])}
    if found := re.fullmatch(r"not here, (.+)", what):
        return {"skipped": found[1]}
    raise PageError(f"{path}:{line}: {what!r} is no way to try a command")
