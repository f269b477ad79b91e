"""Words of tenants that others repeat, such as plugins and API errors: they are only words."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
import yaml

from fourleaf.cli.output.text import json_text, yaml_text
from fourleaf.dashboard.sources.lease_records import MOST_NOTE, events_of
from fourleaf.k8s_bridge.cluster.live.answers import error_of
from fourleaf.k8s_bridge.ledger.plugins.binding_plugins import BindingPlugins
from fourleaf.k8s_bridge.reporting.audit import Audit
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.k8s_bridge.runtime.logs import set_up_logs
from fourleaf.model.gang import GangKey
from fourleaf.model.problems import printable_json
from tests import small
from tests.k8s_bridge.ledger.test_binding_plugins import MEMBERS, Plugin, held
from tests.twins.virtual_clock import VirtualClock

NASTY = 'no\n{"msg":"forged"}\x1b[2J\x9b2J\u202e\u200b\u2028\x7f\U000e0041end'
"""A line of a log, an escape of seven and of eight bits, marks of direction, tags."""
ONE_LINE = 'no {"msg":"forged"}?[2J?2J?? ??end'
GANG = GangKey("ml", "g")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_conditions_and_events_are_one_line() -> None:
    """Short texts too, which are not cut."""
    assert clipped(NASTY) == ONE_LINE
    assert clipped(NASTY * 200).isprintable()


@pytest.mark.parametrize("raises", [False, True])
async def test_a_plugin_that_repeats_them_refuses_in_one_line(raises: bool) -> None:
    """The refusal is the condition of each pod, an event, and a line of the audit."""

    def step(_: object) -> str:
        if raises:
            raise ValueError(NASTY)
        return NASTY

    found = await BindingPlugins([Plugin(step)], VirtualClock(), 9, held).refusal(GANG, MEMBERS)
    assert found.isprintable()
    assert found.endswith(ONE_LINE)


def test_an_error_of_the_api_is_one_line() -> None:
    """A webhook or a policy may quote what it refuses; what is no JSON is told as it came."""
    said = json.dumps({"kind": "Status", "message": NASTY}).encode()
    assert str(error_of("bind", 403, {}, said)) == f"bind: 403 {ONE_LINE}"
    assert str(error_of("bind", 403, {}, NASTY.encode())) == f"bind: 403 {ONE_LINE}"


def _log(plain: bool) -> list[str]:
    stream = io.StringIO()
    set_up_logs("INFO", plain, stream)
    structlog.get_logger("ours").warning("told", why=NASTY, nothing_to_quote="\x1b[2J\u202e")
    logging.getLogger("theirs").warning("said %s", NASTY)
    try:
        raise ValueError(NASTY)
    except ValueError:
        structlog.get_logger("ours").exception("failed")
    return stream.getvalue().split("\n")


def test_logs_for_machines_keep_them_as_escapes() -> None:
    """Each is what it was once a machine has read it; a person sees no control character."""
    lines = _log(plain=False)
    assert all(line.isprintable() for line in lines)
    told, theirs, failed, end = lines
    assert (json.loads(told)["why"], end) == (NASTY, "")
    assert json.loads(theirs)["msg"] == f"said {NASTY}"
    assert json.loads(failed)["exception"].endswith(NASTY)


def test_logs_for_people_show_them_on_their_line() -> None:
    """Of exceptions too, whose lines are lines of their own."""
    lines = _log(plain=True)
    assert all(line.isprintable() for line in lines)
    assert not [line for line in lines[:2] if line.startswith("{")]


def test_lines_of_the_audit_are_lines() -> None:
    """Why a commit did not take is told in the API's words."""
    snapshot = small.snapshot(small.fabric([[2]]), small.gang("a", 1))
    lines: list[str] = []
    plan = small.plan(snapshot, {"a": ["a0"]})
    Audit(lines.append, VirtualClock()).decided(
        "c-1", 3, snapshot, plan, rejected={GangKey("ml", "a"): NASTY}
    )
    (line,) = "".join(lines).removesuffix("\n").split("\n")
    assert line.isprintable()
    assert json.loads(line)["reason"]["detail"] == NASTY


def test_documents_escape_them() -> None:
    """JSON and YAML read as what was written; other letters than ours stay letters."""
    document = {NASTY: [NASTY, "größer 東京"]}
    for text, read in ((json_text(document), json.loads), (yaml_text(document), yaml.safe_load)):
        assert all(line.isprintable() for line in text.split("\n"))
        assert read(text) == document
    assert "größer 東京" in json_text(document)
    assert "größer 東京" in yaml_text(["größer 東京"])
    assert printable_json('{"a":1}') == '{"a":1}'


def test_events_of_tenants_are_one_line_of_the_dashboard() -> None:
    """Anybody may write events about pods of their own, as if a controller had."""
    event = {
        "metadata": {"name": "e", "namespace": "ml"},
        "regarding": {"kind": "Pod", "namespace": "ml", "name": "p"},
        "reason": NASTY,
        "note": NASTY,
    }
    (one,) = events_of(GANG, ["p"], [event])
    assert one.note == ONE_LINE
    assert one.reason.isprintable()
    (long,) = events_of(GANG, ["p"], [{**event, "note": "x" * 10_000}])
    assert len(long.note) == MOST_NOTE
