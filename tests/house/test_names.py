"""Names and sizes that let a stranger find things: one word for one thing, rooms of few files."""

from __future__ import annotations

import ast
import collections
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("agent", "cli", "dashboard", "k8s_bridge", "model", "simulator", "solver", "webhook")
MOST_FILES = 24
"""Python files of one folder, without its `__init__.py`."""

MOST_ENTRIES = {"solver": 9, "k8s_bridge": 14, "model": 30}
"""Entries at the top of a room, `__init__.py` among them."""


def _files() -> list[Path]:
    return [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]


def test_no_class_name_stands_twice() -> None:
    """A class of one name is one thing in the whole product, private classes among them."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for file in _files():
        for node in ast.parse(file.read_bytes()).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(file.relative_to(ROOT).as_posix())
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_no_folder_holds_too_many_files() -> None:
    """What no longer fits on one screen gets rooms of its own."""
    count = collections.Counter(
        file.parent.relative_to(ROOT).as_posix() for file in _files() if file.stem != "__init__"
    )
    assert {folder: n for folder, n in count.items() if n > MOST_FILES} == {}


@pytest.mark.parametrize("room", MOST_ENTRIES)
def test_the_top_of_a_room_is_one_look(room: str) -> None:
    """The large rooms open into packages, not into loose files."""
    entries = [one.name for one in (ROOT / room).iterdir() if one.name != "__pycache__"]
    assert len(entries) <= MOST_ENTRIES[room], sorted(entries)


def test_every_file_says_what_it_holds() -> None:
    """The first line of each file is a sentence: the code map is made of them."""
    silent = [
        file.relative_to(ROOT).as_posix()
        for file in _files()
        if not (ast.get_docstring(ast.parse(file.read_bytes())) or "").strip()
    ]
    assert silent == []
