"""Logs: JSON lines on standard error, or plain lines for a person on a terminal.

The `msg` of a line is the name of what happened, in snake_case; all else is in fields of its own.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from threading import Event
from typing import Any, TextIO

import orjson
import structlog

from fourleaf.model.problems import one_line, printable_json, printable_lines

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
DEFAULT_LEVEL = "INFO"
_DEBUGGING = Event()


def set_up_logs(
    level: str | None = None, plain: bool | None = None, stream: TextIO | None = None
) -> None:
    """Send the logs of this process, those of libraries too, to `stream`.

    `level` is one of `LEVELS`; without it the variable `LOG_LEVEL` says, and where that is
    none of them, INFO, which is warned about. `plain` chooses lines for people; without it, a
    terminal gets those. `stream` is standard error unless given.
    """
    to = stream or sys.stderr
    named = level or os.environ.get("LOG_LEVEL", "")
    least = logging.getLevelNamesMapping()[_level(named)]
    (_DEBUGGING.set if least == logging.DEBUG else _DEBUGGING.clear)()
    people = to.isatty() if plain is None else plain
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[structlog.typing.Processor] = (
        [printable_values, _for_people(to.isatty())]
        if people
        else [
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("msg"),
            structlog.processors.JSONRenderer(_json),
        ]
    )
    structlog.configure(
        processors=[*shared, structlog.processors.StackInfoRenderer(), *last],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(to),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(to)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    # Libraries talk about every connection below that.
    root.setLevel(max(least, logging.WARNING))
    if named and named.upper() not in LEVELS:
        advice = f"set LOG_LEVEL to {', '.join(LEVELS[:-1])} or {LEVELS[-1]}"
        structlog.get_logger(__name__).warning("log_level_unknown", level=named[:80], advice=advice)


def is_debugging() -> bool:
    """Whether lines at DEBUG are written: nothing is made for them where they are not."""
    return _DEBUGGING.is_set()


@contextmanager
def cycle(cycle_id: str) -> Iterator[None]:
    """Put `cycle_id` on every line that is logged within, by this task and those it starts."""
    with structlog.contextvars.bound_contextvars(cycle_id=cycle_id):
        yield


def _for_people(colors: bool) -> structlog.dev.ConsoleRenderer:
    """Lines for a terminal; tracebacks without the values of variables, which may be secrets."""
    return structlog.dev.ConsoleRenderer(
        colors=colors, sort_keys=True, exception_formatter=_plain_traceback
    )


def _plain_traceback(stream: TextIO, exc_info: structlog.typing.ExcInfo) -> None:
    whole = StringIO()
    structlog.dev.plain_traceback(whole, exc_info)
    stream.write(printable_lines(whole.getvalue()))


def printable_values(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """What is logged without characters that move a cursor: part of it may be a tenant's words."""
    return {key: one_line(one) if isinstance(one, str) else one for key, one in event.items()}


def _level(name: str) -> str:
    return name.upper() if name.upper() in LEVELS else DEFAULT_LEVEL


def _json(event: Any, **_: Any) -> str:
    text = orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
    return printable_json(text)
