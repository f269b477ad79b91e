"""Imports run one way: no circle of files, and none of packages inside any package."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping

import grimp
import pytest


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Every import of the product, those for types alone among them."""
    return grimp.build_graph("fourleaf")


def circles(arrows: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The sets of names that reach each other: what is left once names without arrows are gone."""
    left = {name: set(to) - {name} for name, to in arrows.items()}
    while True:
        ends = {name for name in left if not left[name] & left.keys()}
        if not ends:
            break
        left = {name: to for name, to in left.items() if name not in ends}
    return [sorted(left)] if left else []


def test_a_circle_is_found() -> None:
    """Two names that need each other are one; a chain is none."""
    assert circles({"a": ["b"], "b": ["c"], "c": []}) == []
    assert circles({"a": ["b"], "b": ["c"], "c": ["b"]}) == [["a", "b", "c"]]


def test_no_circle_of_files(graph: grimp.ImportGraph) -> None:
    """Not even by an import inside a function, or for types."""
    arrows = {one: graph.find_modules_directly_imported_by(one) for one in graph.modules}
    assert circles(arrows) == []


def test_no_circle_of_packages(graph: grimp.ImportGraph) -> None:
    """Inside every package, its packages and files rest on each other in one order."""
    parents = {one.rpartition(".")[0] for one in graph.modules} - {""}
    found = {}
    for parent in parents:
        arrows: dict[str, set[str]] = collections.defaultdict(set)
        for one in graph.modules:
            inside = _child(one, parent)
            if inside:
                to = (_child(it, parent) for it in graph.find_modules_directly_imported_by(one))
                arrows[inside] |= {it for it in to if it and it != inside}
        if circle := circles(arrows):
            found[parent] = circle
    assert found == {}


def _child(module: str, parent: str) -> str:
    """The part of `module` right below `parent`; "" where it is not in it."""
    rest = module.removeprefix(f"{parent}.")
    return "" if rest == module else rest.split(".")[0]
