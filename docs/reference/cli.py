"""The page about the command: every verb with its arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args, get_type_hints

from typer.main import get_command

from docs.reference.markdown import code, table
from fourleaf.cli.main import app

FILE = "cli.md"


def page() -> str:
    """The page."""
    parts = ["# The command\n"]
    for words, command in verbs(get_command(app), "fourleaf"):
        parts.append(f"## `{words}`\n\n{_paragraphs(command.help or '')}\n")
        if command.epilog:
            lines = (line.strip() for line in command.epilog.splitlines()[2:])
            parts.append("```bash\n" + "\n".join(lines) + "\n```\n")
        hints = get_type_hints(command.callback)
        rows = [_row(one, hints.get(one.name)) for one in command.params if one.name in hints]
        if rows:
            parts.append(table(("option", "default", "meaning"), rows))
    return "\n".join(parts)


def verbs(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    """Every verb that does something, with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
        return
    for name, one in inner.items():
        yield from verbs(one, f"{words} {name}")


def _paragraphs(text: str) -> str:
    paragraphs = text.split("\n\n")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def _row(one: Any, hint: Any) -> tuple[str, str, str]:
    named = one.param_type_name == "option"
    words = ", ".join(one.opts) if named else str(one.metavar or one.name)
    choices = _choices(hint)
    if named and not one.is_flag and (one.metavar or choices):
        words += f" {one.metavar or choices}"
    shown = "required" if one.required else ""
    if isinstance(one.default, str | int | float | Enum) and one.default not in (False, ""):
        shown = code(str(getattr(one.default, "value", one.default)))
    return code(words), shown, str(getattr(one, "help", "") or "")


def _choices(hint: Any) -> str:
    """The values of an option that takes one of a few."""
    for one in (hint, *get_args(hint)):
        if isinstance(one, type) and issubclass(one, Enum):
            return "|".join(str(member.value) for member in one)
    return ""
