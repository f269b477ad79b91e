"""Parts of the deep tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import depth


def test_every_part_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 100 numbers is in exactly one of four parts, and in the whole."""
    turns = []
    for part in range(1, 5):
        monkeypatch.setenv(depth.SHARE_VARIABLE, f"{part}/4")
        turns += [number for number in range(100) if depth.is_in_turn(number)]
    assert sorted(turns) == list(range(100))
    monkeypatch.delenv(depth.SHARE_VARIABLE)
    assert all(depth.is_in_turn(number) for number in range(100))


@pytest.mark.parametrize("text", ["0/4", "5/4", "x"])
def test_a_part_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A wrong number runs nothing, which must not look green."""
    monkeypatch.setenv(depth.SHARE_VARIABLE, text)
    with pytest.raises(ValueError, match=r"give PART/PARTS|invalid literal"):
        depth.share()


def test_what_is_shared_is_there() -> None:
    """A test of another name would run whole in continuous integration."""
    root = Path(__file__).parents[2]
    for name in depth.SHARED:
        path, _, test = name.partition("::")
        assert path.startswith(depth.E2E)
        assert f"def {test}(" in (root / path).read_text()
