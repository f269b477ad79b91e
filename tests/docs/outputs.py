"""What a page shows of the output of a command, held against what the command prints."""

from __future__ import annotations

import re

LEFT_OUT = "..."
NUMBER = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")


def told_apart(shown: str, said: str) -> str:
    """The first line that a page shows and the command did not print there, "" where all are.

    A line `...` stands for any lines, `...` within one for the rest of it; numbers may be others,
    and spaces and line ends may fall elsewhere.
    """
    rest = _bare(said)
    for line in shown.splitlines():
        begin = line.partition(LEFT_OUT)[0]
        wanted = _bare(begin)
        at = rest.find(wanted)
        if at < 0:
            return line
        rest = rest[at + len(wanted) :]
    return ""


def _bare(text: str) -> str:
    return "".join(NUMBER.sub("0", text).split())
