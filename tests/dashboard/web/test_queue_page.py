"""What the page of the queue says of starts."""

from __future__ import annotations

import re

import pytest
from fastapi import Request

from fourleaf.dashboard.views.queue import queue_view
from fourleaf.dashboard.web.pages import QUEUE_COLUMNS, full_name
from fourleaf.dashboard.web.table_state import TableState, table_page
from fourleaf.dashboard.web.templates import Drawing
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, GangKey, Hold, Role
from fourleaf.model.resources import Resources
from fourleaf.model.start import Start
from tests.dashboard.made import moment, node

KEY = GangKey("ml", "g")
OTHERS = tuple(GangKey("ml", name) for name in "abcde")


@pytest.mark.parametrize(
    ("start", "looked_at", "told"),
    [
        (Start(KEY, at=1000.0), 1, "now"),
        (Start(KEY, at=1060.0), 1, "in 1 min"),
        (Start(KEY, at=1060.0, proven=False), 1, "in 1 min (perhaps sooner)"),
        (Start(KEY, waits_for=OTHERS[:1]), 1, "unknown: it is not stated when ml/a ends"),
        (
            Start(KEY, waits_for=OTHERS),
            1,
            "unknown: it is not stated when ml/a, ml/b, ml/c and 2 more end",
        ),
        (Start(KEY, hold=Hold("Gated", "is gated")), 1, "not before it is whole"),
        (Start(KEY), 1, "no place, even if all others ended"),
        (Start(KEY, proven=False), 1, "not found in time"),
        (None, 1, "being looked for …"),
        (None, 0, "too far back to tell"),
    ],
)
def test_the_words_of_a_start(start: Start | None, looked_at: int, told: str) -> None:
    """Each state has words of its own, and what is not proven is not said to be."""
    gang = Gang(KEY, (Role(("g-0",), Resources(gpus=8)),))
    look = moment([Leaf("l0", "s0", (node("a"),))], gangs=[gang])
    view = queue_view(look, {} if start is None else {KEY: start}, looked_at)
    request = Request({"type": "http", "path": "/queue", "headers": [], "query_string": b""})
    table = table_page(TableState("/queue"), view.gangs, full_name, QUEUE_COLUMNS)
    page = Drawing("test", live=False).drawn("parts/queue.html", request, table=table)
    (cell,) = re.findall(r'<td data-head="Start">(.*?)</td>', page, re.DOTALL)
    assert " ".join(re.sub(r"<[^>]*>", "", cell).split()) == told
