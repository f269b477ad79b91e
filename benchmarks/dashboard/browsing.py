"""A Chromium for measurements and pictures."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright


def chromium(playwright: Playwright) -> Browser:
    """A browser without a window. Raises `SystemExit` where there is none."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("no chromium on this machine; name one by CHROMIUM")
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
