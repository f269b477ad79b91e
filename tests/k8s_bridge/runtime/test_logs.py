"""Log lines, for machines and for people."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from fourleaf.k8s_bridge.runtime.logs import cycle, is_debugging, set_up_logs


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    """The lines as JSON."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_lines_are_json_with_the_cycle_that_they_belong_to() -> None:
    """Inside a cycle its id is on every line, afterwards on none."""
    stream = io.StringIO()
    set_up_logs(stream=stream)
    log = structlog.get_logger("test")
    with cycle("c-7"):
        log.info("solved", gangs=3)
    log.warning("done", what=object)
    first, second = lines(stream)
    assert {key: first[key] for key in ("msg", "level", "gangs", "cycle_id")} == {
        "msg": "solved",
        "level": "info",
        "gangs": 3,
        "cycle_id": "c-7",
    }
    assert first["timestamp"].endswith("Z")
    assert "cycle_id" not in second


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("debug", ["d", "i", "w"]),
        ("INFO", ["i", "w"]),
        ("WARNING", ["w"]),
        ("nonsense", ["log_level_unknown", "i", "w"]),
    ],
)
def test_the_level_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, variable: str, expected: list[str]
) -> None:
    """`LOG_LEVEL` in any case; a word that is no level means INFO, and is named."""
    monkeypatch.setenv("LOG_LEVEL", variable)
    stream = io.StringIO()
    set_up_logs(stream=stream)
    log = structlog.get_logger("test")
    log.debug("d")
    log.info("i")
    log.warning("w")
    assert [line["msg"] for line in lines(stream)] == expected
    assert is_debugging() is (variable == "debug")


def test_libraries_log_in_the_same_form_but_only_what_matters() -> None:
    """A warning of a library is a line of JSON with its logger; its chatter is left out."""
    stream = io.StringIO()
    set_up_logs(stream=stream)
    logging.getLogger("aiohttp.client").info("connected")
    logging.getLogger("aiohttp.client").warning("closed %s", "early")
    (line,) = lines(stream)
    assert (line["msg"], line["level"], line["logger"]) == (
        "closed early",
        "warning",
        "aiohttp.client",
    )


def test_an_exception_stays_on_one_line() -> None:
    """Its traceback is a field, so that collectors keep the line together."""
    stream = io.StringIO()
    set_up_logs(stream=stream)
    try:
        raise ValueError("broken")
    except ValueError:
        structlog.get_logger("test").exception("failed")
    (line,) = lines(stream)
    assert "ValueError: broken" in line["exception"]


def test_a_terminal_gets_plain_lines() -> None:
    """A person reads words, not JSON, unless JSON is asked for."""
    stream = Terminal()
    set_up_logs(stream=stream)
    structlog.get_logger("test").info("solved", gangs=3)
    assert "solved" in stream.getvalue()
    assert not stream.getvalue().startswith("{")
    set_up_logs(plain=False, stream=(other := Terminal()))
    structlog.get_logger("test").info("solved")
    assert lines(other)[0]["msg"] == "solved"


def test_a_traceback_shows_no_values() -> None:
    """A terminal gets the lines where it happened, and not what the variables held there."""
    set_up_logs(stream=(stream := Terminal()))
    try:
        token = "-".join(["a", "secret"])
        raise ValueError(len(token))
    except ValueError:
        structlog.get_logger("test").exception("failed")
    assert "raise ValueError(len(token))" in stream.getvalue()
    assert "a-secret" not in stream.getvalue()
