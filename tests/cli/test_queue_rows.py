"""Rows of `fourleaf queue`: a line of bounded length, whatever gangs and namespaces are called."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.cli.render.queue import ROW_WIDTH, queue_lines
from fourleaf.model.reasons.kinds import ReasonKind
from tests.cli.made import text

SPACE = "research-foundation-models"
LONG = "mixtral-8x22b-continued-pretraining-2026-11-w17"
STEP = f"it starts when {SPACE}/llama-4-pretraining-phase-2-restart-9 and 28 more end"
KNOWN = {"seconds": 100 * 86400, "held": False, "waitsFor": [], "proven": True}
UNKNOWN = {**KNOWN, "seconds": None, "waitsFor": [f"{SPACE}/{LONG}"]}


def entry(name: str, **more: Any) -> dict[str, Any]:
    """A large gang that waits, with what would let it start."""
    reason = max(ReasonKind, key=len)
    whole = {"priority": -1000000, "pods": 1024, "gpus": 8192, "since": 0.0, "message": "no room"}
    said = {"reason": reason.value, "unblock": [STEP], **more}
    return {"namespace": SPACE, "name": name, **whole, **said}


def rows(*entries: dict[str, Any], wide: bool = False) -> list[str]:
    """The rows, without the titles."""
    return text(list(queue_lines(entries, 400000.0, wide)), width=500).splitlines()[1:]


STARTS: tuple[dict[str, Any], ...] = ({}, {"start": KNOWN}, {"start": UNKNOWN})


@pytest.mark.parametrize("start", STARTS, ids=["", "known", "unknown"])
@pytest.mark.parametrize("name", ["x" * 253, LONG, "short"])
def test_a_row_has_its_bounds_and_what_would_unblock(name: str, start: dict[str, Any]) -> None:
    """A long name is cut in its middle, and takes nothing from the rows beside it."""
    found = rows(entry(name, **start), entry("tiny", **start))
    assert [len(row) <= ROW_WIDTH for row in found] == [True, True], found
    # It names who has to end, as far as there is room.
    assert ["it starts when resea" in row for row in found] == [True, True], found
    assert [row.startswith("research") for row in found] == [True, True], found
    assert found[0].partition("  ")[0].endswith(name[-5:])
    assert found[1].partition("  ")[0].endswith("/tiny")


def test_whole_names_are_in_wide() -> None:
    """Who needs a name whole, to ask why it waits, finds it there."""
    found = rows(entry(LONG), wide=True)
    assert found[0].startswith(f"{SPACE}/{LONG}  ")
    assert "..." not in "".join(found)


def test_what_has_room_is_whole() -> None:
    """Names of usual length, and steps beside them, are not cut."""
    found = rows(entry("pair", namespace="ml", reason="NoFreeGpus", unblock=["it is short"]))
    assert found[0].startswith("ml/pair  ")
    assert found[0].endswith("NoFreeGpus  it is short")
