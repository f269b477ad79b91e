"""A plugin needs one module of the product, and the page about plugins names all of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from fourleaf import plugins

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugins" / "fourleaf_example_plugins.py"


def test_the_example_imports_nothing_else_of_the_product() -> None:
    """What people copy shows that `fourleaf.plugins` is enough."""
    found = {
        node.module
        for node in ast.walk(ast.parse(EXAMPLE.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fourleaf")
    }
    assert found == {"fourleaf.plugins"}


def test_the_page_names_what_the_module_holds() -> None:
    """The table of docs/extending.md and `__all__` say the same."""
    page = (ROOT / "docs" / "extending.md").read_text()
    table = page.split("## What a plugin may import")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(plugins.__all__)
