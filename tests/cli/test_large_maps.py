"""Device maps of a megabyte and more, as `fourleaf map` checks and shows them."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from fourleaf.cli.maps.rows import WIDEST, Rows
from tests.cli.conftest import Run
from tests.model.readers.made import node, pod

CPU_SECONDS = 15.0
"""For what takes 1 to 3 on one core; a table of rich takes 90, and so do faults without end."""


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{i}=n{i % 64}:{i % 8}\n" for i in range(100_000)),
        "".join(f"{i}=gone-{i}-x:{i % 8}\n" for i in range(90_000)),
        "".join(f"{i}=n1:{','.join(map(str, range(1024)))}\n" for i in range(500)),
        "x\n" * 1_000_000,
    ],
    ids=["lines", "nodes that are gone", "devices", "nonsense"],
)
def test_a_hostile_map_is_checked_in_seconds(
    run: Run, write: Callable[[str, str], Path], text: str
) -> None:
    """Up to 2 MB of good lines, of nodes that are gone, of devices that are not there, of none."""
    items = [
        *(node(f"n{i}") for i in range(64)),
        pod("m-0", annotations={"gpu-scheduling-map": text}),
    ]
    path = write("in.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    began = time.process_time()
    assert run("map", "check", "-f", path).exit_code == 2
    assert time.process_time() - began < CPU_SECONDS


def test_rows_cut_no_cell_and_one_that_is_long_widens_no_other() -> None:
    """On a terminal of 20 columns: titles, a short row, and one with a cell of 90 characters."""
    to = io.StringIO()
    rows = Rows([("pod", "node", "pool"), ("0", "n1", "a"), ("1", "n" * 90, "b")])
    Console(file=to, width=20, color_system=None).print(rows, soft_wrap=rows.no_wrap)
    gap = " " * (WIDEST + 2)
    assert to.getvalue().splitlines() == [
        f"pod  node{gap[4:]}pool",
        f"0    n1{gap[2:]}a",
        f"1    {'n' * 90}b",
    ]
