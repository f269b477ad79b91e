"""Studies outlive the process in a database or a journal."""

from pathlib import Path

import pytest

from fourleaf.simulator.tuning.storage import BadStorage, open_storage
from fourleaf.simulator.tuning.study import finished, open_study
from fourleaf.simulator.tuning.worker import run
from tests.simulator.tuning.made import TASK, formula


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_a_study_is_there_when_it_is_opened_again(kind: str, tmp_path: Path) -> None:
    """Two trials by one, a third by another."""
    url = f"{kind}:///{tmp_path / 'study'}".replace("////", "///" if kind == "journal" else "////")
    for trials in (2, 3):
        run(open_study(open_storage(url), "made", TASK), TASK, trials, 0, formula)
    assert len(finished(open_study(open_storage(url), "made", TASK))) == 3


@pytest.mark.parametrize(
    "url", ["nonsense", "oracle9://x", "sqlite:////nowhere/at/all.db", "journal://here.log"]
)
def test_what_cannot_be_opened_is_refused(url: str) -> None:
    """No URL, no such driver, no such folder, no whole path."""
    with pytest.raises(BadStorage):
        open_storage(url)
