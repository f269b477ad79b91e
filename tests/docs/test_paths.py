"""No document names a file or a module of the repository that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.reference.code_map import ROOMS
from tests.docs.test_guides import PAGES, ROOT

TOPS = "|".join((*ROOMS, "fourleaf", "tests", "docs", "deploy", "examples", "benchmarks"))
PATH = re.compile(rf"(?<![\w./:-])(?:{TOPS})/[\w./-]*")
MODULE = re.compile(r"(?<![\w./-])fourleaf(?:\.[a-z]\w*)+(?![\w-]*[/:@])")
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b")
NO_MODULES = frozenset({"fourleaf.bindings", "fourleaf.rules", "fourleaf.terms", "fourleaf.yaml"})
"""Groups of entry points and a file, which look like modules."""
READERS_OWN = frozenset({"examples/device-map.yaml"})
"""Ends of URLs and of folders that a reader has elsewhere."""
PLACES = [*PAGES, *(ROOT / "benchmarks").rglob("*.md")]


def paths(text: str) -> set[str]:
    """What a text names as files and folders of the repository."""
    found = {one.rstrip("./") for one in PATH.findall(text)}
    return {one for one in found if not PLACEHOLDER.search(one)} - READERS_OWN


def modules(text: str) -> set[str]:
    """What a text names as modules, or as names in a module."""
    return set(MODULE.findall(text)) - NO_MODULES


@pytest.mark.parametrize("page", PLACES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    """In sentences, in tables and in commands."""
    text = page.read_text("utf-8")
    assert sorted(one for one in paths(text) if not (ROOT / one).exists()) == []
    assert sorted(one for one in modules(text) if not _is_module(one)) == []


def test_paths_are_found_in_a_sentence() -> None:
    """At its end, in backticks, in a link; not as a part of another path or of a URL."""
    text = (
        "See `solver/batch/greedy.py`, model/plan.py. Not https://x/model/y nor a/cli/b, "
        "nor tests/ROOM/PACKAGE; run `python -m fourleaf.model.crds deploy/crds`."
    )
    assert paths(text) == {"solver/batch/greedy.py", "model/plan.py", "deploy/crds"}
    assert modules(text) == {"fourleaf.model.crds"}


def _is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    holders = (path.parent / "__init__.py", path.parent.with_suffix(".py"))
    return any(path.name in one.read_text("utf-8") for one in holders if one.exists())
