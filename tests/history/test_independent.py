"""The checker stands on its own: a mistake in the bridge cannot hide itself there."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import tests.history.__main__, tests.history.watching
print(sorted(name for name in sys.modules if name.split(".")[0] == "fourleaf"))
"""


def test_the_checker_loads_nothing_of_the_product() -> None:
    """All of it is imported in a process of its own, and no room of the product with it."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
