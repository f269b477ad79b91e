"""Commands of ours wherever a document names one, and whether there is such a command at all."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from typer.main import get_command

from fourleaf.cli.main import app

FENCE = re.compile(r"^[ \t]*```\w*\n(.*?)^[ \t]*```$", re.M | re.S)
SPAN = re.compile(r"`([^`]+)`")
INDENTED = re.compile(r"(?:^|(?<=\n\n))(?: {4}|\t)(\S.*)", re.M)
CALL = re.compile(r"(?:^|[|;&(]\s*|\$ |-- |bin/|kubectl )fourleaf(?=\s|$)(.*)")
END = re.compile(r"\\?[|;&#>)]|<<")
HELP = frozenset({"--help"})


def calls(text: str) -> Iterator[str]:
    """What follows `fourleaf` in each command of a document: blocks, spans, indented lines."""
    for block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from _calls_of(line)
    prose = FENCE.sub("", text)
    for span in SPAN.findall(prose):
        yield from _calls_of(" ".join(span.split()))
    for line in INDENTED.findall(SPAN.sub("", prose)):
        yield from _calls_of(line)


def _calls_of(line: str) -> Iterator[str]:
    for found in CALL.finditer(line.strip()):
        yield END.split(found[1], maxsplit=1)[0].strip()


@cache
def _root() -> Any:
    return get_command(app)


def wrong(call: str) -> str:
    """Which word of a call no verb of ours knows, "" where all are known."""
    command: Any = _root()
    words = shlex.split(call)
    while words and getattr(command, "commands", None) and not words[0].startswith("-"):
        word = words.pop(0)
        if word.isupper():
            # Any verb is meant, or one of several: `VERB`.
            return ""
        if word not in command.commands:
            return f"fourleaf {call}: {word} is no verb"
        command = command.commands[word]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | HELP
    for word in words:
        flag = word.partition("=")[0]
        if re.fullmatch(r"--?[A-Za-z][\w-]*", flag) and flag not in known:
            return f"fourleaf {call}: {flag} is no flag"
    return ""


def named_in(path: Path) -> list[str]:
    """All calls of a document."""
    return list(calls(path.read_text()))
