"""Sources as lines of text, and where their errors go: `file:line`, field and value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fourleaf.model.problems import BadInput
from fourleaf.model.readers.objects.report import Report

MAX_NODES = 200_000
"""The largest fabric that is read, in nodes."""
_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._:-]{0,251}[A-Za-z0-9_])?")
NAME_ADVICE = "Use letters, digits, '-', '_' and '.', at most 253."


@dataclass(frozen=True)
class Text:
    """One source: its name, its lines, and the report that its errors go to."""

    name: str
    lines: tuple[str, ...]
    report: Report = field(default_factory=Report)

    def error(self, line: int, where: str, value: object, message: str, advice: str) -> None:
        """Keep an error about the field `where` of a line, counted from 1 (0: the file)."""
        source = f"{self.name}:{line}" if line else self.name
        self.report.error(source, "", where, value, message, advice)

    def sound(self, line: int, where: str, name: str) -> bool:
        """Whether `name` can name a node or a switch; an error is kept where it cannot."""
        if _NAME.fullmatch(name):
            return True
        self.error(line, where, name, "is no name of a node or switch", NAME_ADVICE)
        return False

    def stop_on_errors(self) -> None:
        """Raise `BadInput` where an error was kept."""
        if self.report.errors:
            raise BadInput(self.report.errors)


def text_of(name: str, data: bytes) -> Text:
    """The lines of `data`. Raises `BadInput` where it is binary, not UTF-8, or empty."""
    text = Text(name, ())
    decoded = ""
    if b"\0" in data:
        text.error(0, "", None, "is binary, not text", "Give the text that the program prints.")
    else:
        try:
            decoded = data.removeprefix(b"\xef\xbb\xbf").decode()
        except UnicodeDecodeError as error:
            message = f"is not UTF-8 (byte {error.start})"
            text.error(0, "", None, message, "Give the text that the program prints.")
        if not decoded.strip() and not text.report.errors:
            text.error(0, "", None, "is empty", "Give a description of a fabric.")
    text.stop_on_errors()
    return Text(name, tuple(decoded.splitlines()))
