"""The pictures of docs/dashboard.md: `python -m benchmarks.dashboard.pictures [NAME...]`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.dashboard.browsing import chromium
from benchmarks.dashboard.scene import NOW, scene
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.model.readers import Source, open_paths
from tests.dashboard.served import Served

EXAMPLES = 0
"""In place of a number of nodes: the cluster of examples/, whose Jobs make lost pods anew."""
IMAGES = Path(__file__).parents[2] / "docs" / "images"


@dataclass(frozen=True, slots=True)
class Picture:
    """A page at a size in pixels, in a scheme, once `press` was clicked and `point` pointed at."""

    name: str
    path: str
    nodes: int
    width: int
    height: int
    scheme: str
    point: str = ""
    press: str = ""


PICTURES = (
    Picture("dashboard-overview", "/", 64, 1440, 860, "light"),
    Picture(
        "dashboard-fabric",
        "/fabric?namespace=ml&name=llama-pretrain",
        64,
        1440,
        900,
        "light",
        ".leaf.near .node:nth-of-type(2)",
    ),
    Picture(
        "dashboard-drain",
        "/previews?places=leaf-04",
        EXAMPLES,
        1440,
        620,
        "light",
        press="form[data-ask='/previews/drain'] button",
    ),
    Picture("dashboard-1000", "/fabric", 1000, 1440, 900, "dark"),
    Picture("dashboard-phone", "/queue", 64, 360, 740, "light"),
)


def main() -> None:
    """Draw those that are named, else all."""
    names = sys.argv[1:] or [one.name for one in PICTURES]
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, chromium(playwright) as browser:
        for picture in (one for one in PICTURES if one.name in names):
            print(f"{draw(browser, picture)} bytes: {picture.name}")


def draw(browser: Browser, picture: Picture) -> int:
    """Draw one; how many bytes it has."""
    if picture.nodes == EXAMPLES:
        sources = open_paths([IMAGES.parents[1] / "examples"])
    else:
        sources = [Source("gpu-cluster", objects=scene(picture.nodes))]
    source = FileSource("gpu-cluster", sources, NOW)
    with (
        Served(source) as served,
        browser.new_context(
            viewport={"width": picture.width, "height": picture.height},
            color_scheme="dark" if picture.scheme == "dark" else "light",
        ) as context,
    ):
        page = context.new_page()
        page.goto(served.url + picture.path)
        if picture.press:
            page.locator(picture.press).click()
        page.wait_for_timeout(4000)
        if picture.point:
            page.locator(picture.point).first.hover()
        file = IMAGES / f"{picture.name}.png"
        page.screenshot(path=file)
    return file.stat().st_size


if __name__ == "__main__":
    main()
