"""The page about the code: every file of the product with the first line of its docstring."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

from docs.reference.markdown import table

FILE = "../code-map.md"
ROOT = Path(__file__).parents[2]
ROOMS = {
    "model": "Frozen data, the readers of manifests, the validator. Imports no other room.",
    "solver": "The problem by index, the CP-SAT program, batch and relocation solves, and the "
    "process that they run in. Imports `model/`.",
    "simulator": "Traces in virtual time, baseline policies, tuning. Imports `solver/`, `model/`.",
    "k8s_bridge": "The running scheduler: informers, cache, cycle, ledger, relocations, reports. "
    "Imports `solver/`, `model/`.",
    "webhook": "The admission server. Imports `k8s_bridge/` and what that imports.",
    "agent": "The node agent. Imports `k8s_bridge/` and what that imports.",
    "dashboard": "The web pages. Imports `k8s_bridge/` and what that imports.",
    "cli": "The command. Imports every room.",
}
"""Room -> what it is for and what it may import, in the order in which data walks."""
COMMENTS = {
    ".css": ("/*", "*/"),
    ".html": ("{#-", "-#}"),
    ".js": ("//", ""),
    ".yaml": ("#", ""),
}
"""Ending of files that are no modules -> how their first comment begins and ends."""
TESTED_IN = {
    "solver/objective": "tests/solver/batch",
    "solver/objective/terms": "tests/model/scores",
}
"""Packages whose tests stand elsewhere than in the nearest folder."""
_INTRO = """# Where is what

Every file of the product with the first line of its docstring, which says what the file holds.
How to read it:

- A room is a folder at the top of the repository and a package under `fourleaf`:
  `solver/batch/greedy.py` is imported as `fourleaf.solver.batch.greedy`. Edit the file in the
  room; `fourleaf/` holds only links to the rooms.
- Rooms stand in the order of the imports: a room imports only from rooms before it.
  Inside a large room the parts are layers too: each imports only from those to its right.
  `make contracts` checks both.
- The tests of `ROOM/PACKAGE/` stand in `tests/ROOM/PACKAGE/`, or in the nearest folder above it
  that has tests; each package below says where. Above `tests/ROOM/` there are tests of the whole.
- Words that only this product uses are in [glossary.md](glossary.md).

"""


def page() -> str:
    """The page."""
    listed = "\n".join(f"- [{room}/](#{room}): {use}" for room, use in ROOMS.items())
    return f"{_INTRO}{listed}\n\n" + "\n".join(map(_room, ROOMS))


def first_line(path: Path) -> str:
    """The first line of the docstring of a file, "" where it has none."""
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def files(folder: Path) -> list[Path]:
    """The modules of a package, without those of packages in it."""
    return sorted(one for one in folder.glob("*.py") if one.name != "__init__.py")


def data_files(folder: Path) -> list[Path]:
    """The files beside the modules of a package, and of folders in it that are no packages."""
    found = [one for one in folder.iterdir() if one.is_file() and one.suffix in COMMENTS]
    for inside in folder.iterdir():
        if inside.is_dir() and not (inside / "__init__.py").exists():
            found += [one for one in inside.rglob("*") if one.suffix in COMMENTS]
    return sorted(found)


def tests_of(package: str) -> str:
    """The folder with the tests of a package: the one that mirrors it, or the nearest above."""
    if package in TESTED_IN:
        return TESTED_IN[package]
    folder = ROOT / "tests" / package
    while not any(folder.glob("test_*.py")):
        folder = folder.parent
    return folder.relative_to(ROOT).as_posix()


def _comment(path: Path) -> str:
    """The comment that a file begins with."""
    text, (begin, end) = path.read_text("utf-8"), COMMENTS[path.suffix]
    if not text.startswith(begin):
        return ""
    lines = text.splitlines()
    whole = lines[0] if not end else text.partition(end)[0]
    return " ".join(whole.removeprefix(begin).split()).partition(". ")[0].rstrip(".") + "."


def _room(room: str) -> str:
    parts = [f"## {room}/\n"]
    for folder in _packages(ROOT / room):
        name = folder.relative_to(ROOT).as_posix()
        if folder != ROOT / room:
            parts.append(f"### {name}/\n")
        parts.append(f"{first_line(folder / '__init__.py')}\n")
        parts += [f"Layers: {' > '.join(found)}.\n" for found in _layers(name)]
        rows = [(one.name, first_line(one)) for one in files(folder)]
        rows += [(one.relative_to(folder).as_posix(), _comment(one)) for one in data_files(folder)]
        if rows:
            parts.append(f"Tests: `{tests_of(name)}`.\n")
            linked = ((f"[{file}](../{name}/{file})", held) for file, held in rows)
            parts.append(table(("file", "what it holds"), linked))
    return "\n".join(parts)


def _layers(name: str) -> Iterator[list[str]]:
    """The layers of a package, the topmost first, as the import contracts have them."""
    package = f"fourleaf.{name.replace('/', '.')}"
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    for one in contracts["contracts"]:
        if one["type"] == "layers" and package in one["containers"]:
            yield [f"`{layer}`" for layer in one["layers"]]


def _packages(folder: Path) -> Iterator[Path]:
    yield folder
    for inside in sorted(folder.iterdir()):
        if (inside / "__init__.py").exists():
            yield from _packages(inside)
