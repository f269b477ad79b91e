"""The later part is held out, whole, and nothing of it is learnt from."""

from pathlib import Path

import pytest

from fourleaf.simulator.readers import philly
from fourleaf.simulator.tuning.cases import TooLittle, parted, split_of
from fourleaf.simulator.tuning.task import TuningTask
from tests.simulator.made import job, trace

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_last_gangs_are_held_out() -> None:
    """Of ten gangs the last three, from the arrival of the eighth on, counted from there."""
    train, later = parted(trace(*(job(f"j{i}", 10 * i, 5) for i in range(10))), 0.3)
    assert [one.name for one in train.jobs] == [f"j{i}" for i in range(7)]
    assert [(one.name, one.arrival) for one in later.jobs] == [("j7", 0), ("j8", 10), ("j9", 20)]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_gangs_are_refused(count: int) -> None:
    """Two on either side at least."""
    with pytest.raises(TooLittle, match="too few"):
        parted(trace(*(job(f"j{i}", 10 * i, 5) for i in range(count))), 0.3)


def test_every_deal_offers_the_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parts, each deal on its own, at half of what 8 nodes give; the gangs stay the same."""
    rows = [f"2017-10-09 07:{i:02d}:00,{300 + 60 * i},8,1,a" for i in range(20)]
    text = "\n".join(["timestamp,duration,num_gpus,gpu_time,cluster", *rows])
    (tmp_path / philly.FILE).write_text(text)
    monkeypatch.setenv("TOPOLOGY_DATA_DIR", str(tmp_path))
    split = split_of(TuningTask(trace="philly", fabric="regular:8", load=50, deals=3))
    assert [len(part) for part in (split.train, split.held_out)] == [3, 3]
    for part in (split.train, split.held_out):
        names = [sorted(one.name for one in case.trace.jobs) for case in part]
        assert names[0] == names[1] == names[2]
        for case in part:
            assert case.trace.load(64) == pytest.approx(0.5, rel=0.05)
    assert split.train_window.startswith("the first 14 gangs")


def test_the_last_snapshots_are_held_out(tmp_path: Path) -> None:
    """Of three the last; each is one case, because a deal would change nothing."""
    text = "---\n".join(
        (EXAMPLES / f"{name}.yaml").read_text() for name in ("fabric-64", "running", "gangs")
    )
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.yaml").write_text(text)
    paths = tuple(str(tmp_path / f"{name}.yaml") for name in ("a", "b", "c"))
    split = split_of(TuningTask(snapshots=paths))
    assert (len(split.train), len(split.held_out)) == (2, 1)
    assert split.held_out_window == paths[2]
    with pytest.raises(TooLittle, match="one snapshot"):
        split_of(TuningTask(snapshots=paths[:1]))
