"""What is installed is what the lock names, file by file: no install without a hash."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "deploy" / "images" / "build.txt"
UV = Path(sys.executable).with_name("uv")


@pytest.mark.parametrize("name", ["Makefile", "deploy/images/Dockerfile"])
def test_pip_installs_nothing_without_a_hash(name: str) -> None:
    """Every install names a file of hashes, or the checkout alone without what it depends on.

    `make oldest` resolves anew by uv, on purpose, in an environment that nothing else uses.
    """
    lines = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    installs = re.findall(r"(?<!uv )pip install[^&\n;]*", text)
    assert installs
    for line in installs:
        assert "--require-hashes" in line or (
            "--no-deps" in line and line.rstrip().endswith(".")
        ), line
    assert "--no-hashes" not in text


def test_what_builds_is_what_the_lock_names() -> None:
    """The file that pip begins with is what uv makes of the lock, with every hash."""
    command = "export --frozen --quiet --no-header --no-annotate --only-group build"
    told = subprocess.run(
        [UV, *command.split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = [line for line in BUILD.read_text().splitlines() if not line.startswith("#")]
    assert lines == told.stdout.splitlines()
