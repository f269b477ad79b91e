"""What tests of the dashboard share: the examples, served once, and a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from dashboard.world.files import FileWorld
from model.readers import open_paths
from tests.dashboard.served import Served

EXAMPLES = Path(__file__).parents[2] / "examples"
NOW = 1763704800.0
"""2025-11-21T06:00:00Z, an hour after the first gang of the examples was made."""


@pytest.fixture(scope="session")
def examples() -> FileWorld:
    """The 64 nodes that ship, with what runs and waits there."""
    return FileWorld("examples", open_paths([EXAMPLES]), NOW)


@pytest.fixture(scope="session")
def served(examples: FileWorld) -> Iterator[Served]:
    """A dashboard of the examples."""
    with Served(examples) as dashboard:
        yield dashboard


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium, without a window. While it is there, its thread can run no other event loop."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no chromium on this machine; name one by CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
