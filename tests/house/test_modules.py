"""Each file of the product is one module, though the repository's root is on the path too."""

from __future__ import annotations

import subprocess
import sys

from tests.house.modules import twice

PROGRAM = """
import importlib, pkgutil
import fourleaf
from tests.house.modules import twice

for one in pkgutil.walk_packages(fourleaf.__path__, "fourleaf."):
    if not one.name.endswith("__main__"):
        importlib.import_module(one.name)
print(twice())
"""


def test_every_module_loads_and_none_twice() -> None:
    """All are imported in a process of its own, in which no file has two names."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "{}", done.stderr


def test_a_second_name_is_noticed() -> None:
    """A module under the name of its room alone is found beside the one of the package."""
    program = (
        "import fourleaf.model.gang\n"
        "import model.gang\n"
        "from tests.house.modules import twice\n"
        "print(sorted(twice()['model/gang.py']))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.decode().strip() == "['fourleaf.model.gang', 'model.gang']"
    assert twice() == {}
