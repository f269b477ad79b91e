"""Which code a finding was made by: a hash of the sources that decide what a replay gives."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
IDLE = ("simulator/pictures", "simulator/tuning")
"""Parts of the simulator in which no replay runs."""


@cache
def code_of(policy: str) -> str:
    """The code that this process runs under `policy`: its sources when it was first asked."""
    return code_now(policy)


def code_now(policy: str) -> str:
    """A hash that changes with the sources a replay under `policy` runs.

    The model and the simulator; for `cpsat` all of the solver, for a baseline what the simulator
    imports of it outside that policy, directly or not.
    """
    files = [*_python("model"), *_python("simulator")]
    if policy == "cpsat":
        files += _python("solver")
    else:
        ours = ROOT / "simulator" / "policies" / "cpsat.py"
        files += _shared(file for file in _python("simulator") if file != ours)
    return hashed(ROOT, files)


def hashed(root: Path, files: Iterable[Path]) -> str:
    """A hash of these files by their names below `root` and their bytes, whatever their order."""
    whole = hashlib.sha256()
    for file in sorted(set(files)):
        body = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{file.relative_to(root).as_posix()} {body}\n".encode())
    return whole.hexdigest()[:16]


def _python(room: str) -> list[Path]:
    found = (ROOT / room).rglob("*.py")
    return [one for one in found if not one.relative_to(ROOT).as_posix().startswith(IDLE)]


def _shared(begin: Iterable[Path]) -> set[Path]:
    """The files of the solver that these import, and those that they import in turn."""
    left, seen = list(begin), set[Path]()
    while left:
        for name in _imported(left.pop()):
            file = ROOT / f"{name.replace('.', '/')}.py"
            if name.startswith("fourleaf.solver.") and file.is_file() and file not in seen:
                seen.add(file)
                left.append(file)
    return seen


def _imported(file: Path) -> Iterator[str]:
    """Every module that a file names in an import."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
