"""How tests of the command run it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fourleaf.cli.main import app

Run = Callable[..., Result]


@pytest.fixture(name="run")
def _run() -> Run:
    """Run `fourleaf` in this process: `run("plan", "-f", path, input=b"...")`."""
    return lambda *words, **more: CliRunner().invoke(app, [str(word) for word in words], **more)


@pytest.fixture(name="write")
def _write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file: `write(name, text)`."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
