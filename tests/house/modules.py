"""Modules of this process that stand for the same file."""

from __future__ import annotations

import collections
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def twice() -> dict[str, list[str]]:
    """File -> the names under which it is loaded, for each file that has more than one."""
    names: dict[str, list[str]] = collections.defaultdict(list)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name != "__main__":
            names[os.path.relpath(os.path.realpath(file), ROOT)].append(name)
    return {
        file: found
        for file, found in names.items()
        if len(found) > 1 and not file.startswith("..") and ".venv" not in file
    }
