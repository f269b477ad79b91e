"""What tests of the dashboard share: the examples, served once, and a browser."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from fourleaf.dashboard.serve import DashboardOptions
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.dashboard.web.access import Token
from fourleaf.model.readers import open_paths
from tests.dashboard.served import Served
from tests.dashboard.telling import many, scheduler

EXAMPLES = Path(__file__).parents[2] / "examples"
NOW = 1763704800.0
"""2025-11-21T06:00:00Z, an hour after the first gang of the examples was made."""
SECRET = "a-token-of-twenty-four-chars"  # noqa: S105 - of nothing that lasts
CYCLES = 256
"""As many as the scheduler remembers."""


@pytest.fixture(scope="session")
def examples() -> FileSource:
    """The 64 nodes that ship, with what runs and waits there."""
    return FileSource("examples", open_paths([EXAMPLES]), NOW)


@pytest.fixture(scope="session")
def served(examples: FileSource) -> Iterator[Served]:
    """A dashboard of the examples."""
    with Served(examples) as dashboard:
        yield dashboard


@pytest.fixture(scope="session")
def locked(examples: FileSource, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard of the examples that asks for `SECRET`, and whose scheduler tells of cycles."""
    file: Path = tmp_path_factory.mktemp("token") / "token"
    file.write_text(SECRET)
    with scheduler(many(CYCLES)) as url:
        options = DashboardOptions(port=0, access=Token(file), servers=(url,))
        with Served(examples, options) as dashboard:
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


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of 1440 pixels' width on which nothing may go wrong."""
    with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        wrong: list[str] = []
        page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda one: wrong.append(str(one)))
        yield page
        # Answers of 403, 404 and 422 are told of on the console, as they should be.
        assert [one for one in wrong if not re.search("status of (403|404|422)", one)] == []
