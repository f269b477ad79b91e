"""The sheet is a picture, and the page needs nothing but itself."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fourleaf.simulator.measures.tables import note, tables, title
from fourleaf.simulator.pictures.charts import (
    CHARTS,
    Run,
    allocation,
    leaves,
    runs_of,
    slowdown,
    waits,
)
from fourleaf.simulator.pictures.page import page
from fourleaf.simulator.pictures.sheet import write_sheet
from fourleaf.simulator.replay import replay
from tests.simulator.made import job, options, trace
from tests.simulator.made import leaves as fabric_of

JOBS = trace(job("a<b", 0, 7200, pods=2), job("b", 0, 3600), job("c", 60, 3600, pods=3))
FABRIC = fabric_of(3, 1)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """Two policies on three gangs."""
    names = ("first-fit", "spread")
    return runs_of([(name, replay(JOBS, FABRIC, options(name))) for name in names])


def axes() -> Axes:
    """Make empty axes."""
    return Figure().add_subplot()


def heights(drawn: Axes) -> list[float]:
    """Tell how high the bars are."""
    return [bar.get_height() for bar in drawn.patches if isinstance(bar, Rectangle)]


def test_allocation_is_drawn_in_percent_over_hours(runs: list[Run]) -> None:
    """Three of four nodes are used from the first sample on, under either policy."""
    drawn = axes()
    allocation(drawn, runs)
    assert [line.get_label() for line in drawn.lines] == ["first-fit", "spread"]
    for line in drawn.lines:
        assert np.asarray(line.get_ydata())[-1] == 75.0
        assert np.asarray(line.get_xdata())[-1] == pytest.approx(60 / 3600)


def test_waits_are_drawn_in_hours_by_size(runs: list[Run]) -> None:
    """Under first fit c waits for the leaf of three: from 60 until a ends at 7200."""
    drawn = axes()
    waits(drawn, runs)
    assert [text.get_text() for text in drawn.get_xticklabels()] == ["1", "2", "3 to 4"]
    assert heights(drawn)[2] == pytest.approx(7140 / 3600)


def test_leaves_are_drawn_against_the_fewest(runs: list[Run]) -> None:
    """First fit keeps to the fewest; gangs of one node are left out."""
    drawn = axes()
    leaves(drawn, runs)
    assert [text.get_text() for text in drawn.get_xticklabels()] == ["2", "3 to 4"]
    assert heights(drawn)[:2] == [1.0, 1.0]


def test_slowdowns_are_drawn_by_size(runs: list[Run]) -> None:
    """Where no place costs anything every bar stands at 1."""
    drawn = axes()
    slowdown(drawn, runs)
    assert [text.get_text() for text in drawn.get_xticklabels()] == ["2", "3 to 4"]
    assert heights(drawn) == [1.0, 1.0, 1.0, 1.0]


def test_the_sheet_is_a_png(runs: list[Run], tmp_path: Path) -> None:
    """Two drawings of the same runs are the same file."""
    for name in ("one", "two"):
        write_sheet(tmp_path / name, title(JOBS, FABRIC), runs)
    drawn = (tmp_path / "one").read_bytes()
    assert drawn.startswith(b"\x89PNG\r\n")
    assert drawn == (tmp_path / "two").read_bytes()


def test_the_page_asks_for_nothing_else(runs: list[Run]) -> None:
    """Every chart is within it; no script, link, image or address but those of names."""
    shown = tables([(run.name, run.record, run.summary) for run in runs])
    text = page(title(JOBS, FABRIC), note(JOBS), shown, runs)
    assert text.count("<svg") == len(CHARTS)
    assert not re.search(r"<(script|link|img|iframe)|src=|@import", text)
    assert set(re.findall(r'(?:href|xlink:href)="([^#"])', text)) == set()
    assert text == page(title(JOBS, FABRIC), note(JOBS), shown, runs)
