"""The dashboard before a full cluster: `python -m benchmarks.dashboard [--write]`.

1000 nodes and 10,000 pods on a control plane from source, `fourleaf dashboard` and Chromium, all
on this machine. *First paint*: the browser's own first-contentful-paint of the map, each time in a
new context without a cache; *the whole map* is the end of loading. *Update*: a node is cordoned
or given back through the API server; from just before that request until the map's element for it
has changed, by the clock that both share. *Memory*: resident set of the dashboard's process, its
solver's left out, at its highest after every page was shown, a queue was searched and all updates
were sent; less that of a process with the same modules that has read the whole cluster and shows
nothing. The difference is what pages and their caches take. Ends with status 1 where a goal is
missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.dashboard import reader
from benchmarks.dashboard.browsing import chromium
from benchmarks.dashboard.load import NAMESPACE, build
from benchmarks.dashboard.reader import memory_of
from benchmarks.results import markdown, write_tables
from benchmarks.throughput.contenders import plane
from tests.controlplane.api import Api
from tests.controlplane.plane import ControlPlane
from tests.e2e.accounts import DASHBOARD, RBAC, account, install
from tests.e2e.board import TOKEN, Board

PAINT_GOAL, UPDATE_GOAL, MEMORY_GOAL = 1000.0, 200.0, 50.0
PAINTS, UPDATES = 9, 40
PATHS = (
    "/",
    "/fabric",
    "/queue",
    "/gangs",
    f"/gang?namespace={NAMESPACE}&name=run-7",
    "/node?name=gpu-30",
)
HEADER = ["figure", "median", "worst", "goal", "met"]
Row = list[str]

_PAINTED = """
() => new Promise((done) => {
  new PerformanceObserver((list) => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) done(paint.startTime);
  }).observe({ type: "paint", buffered: true });
})
"""
_WATCH = """
(name) => {
  const node = () => document.querySelector(`.map .node[aria-label^="${name}:"]`);
  const look = node().className;
  window.seen = new Promise((done) => {
    new MutationObserver((_, observer) => {
      if (node() && node().className !== look) {
        observer.disconnect();
        done(performance.timeOrigin + performance.now());
      }
    }).observe(document.getElementById("part"), { childList: true, subtree: true });
  });
}
"""


def measured(folder: Path, control: ControlPlane) -> list[Row]:
    """One row a figure."""
    with control.api() as api:
        install(api, RBAC / "dashboard.yaml")
        api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        build(control.kubeconfig())
        kubeconfig = account(control, DASHBOARD, folder)
        before = reading(kubeconfig)
        with Board(kubeconfig, folder) as service, sync_playwright() as playwright:
            with chromium(playwright) as browser:
                paints = [paint(browser, service) for _ in range(PAINTS)]
                with browser.new_context(extra_http_headers=bearer()) as context:
                    page = context.new_page()
                    for path in PATHS:
                        page.goto(service.url + path)
                        page.wait_for_timeout(1500)
                    updates = changes(page, api, service)
            service.api("/queue")
            after = peak(service)
    return [
        row("first paint, ms", [first for first, _ in paints], PAINT_GOAL),
        row("the whole map, ms", [whole for _, whole in paints]),
        row("update, ms", updates, UPDATE_GOAL),
        row("memory of pages and caches, MiB", [after - before], MEMORY_GOAL),
        row("memory with the cluster alone, MiB", [before]),
    ]


def bearer() -> dict[str, str]:
    """What a browser sends so that it is let in."""
    return {"authorization": f"Bearer {TOKEN}"}


def paint(browser: Browser, service: Board) -> tuple[float, float]:
    """Milliseconds to the first paint of the map, and to the end of loading."""
    with browser.new_context(
        viewport={"width": 1440, "height": 900}, extra_http_headers=bearer()
    ) as context:
        page = context.new_page()
        page.goto(f"{service.url}/fabric", wait_until="load")
        first = page.evaluate(_PAINTED)
        whole = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        return float(first), float(whole)


def changes(page: Page, api: Api, service: Board) -> list[float]:
    """Milliseconds from each change of a node to the map."""
    page.goto(f"{service.url}/fabric")
    page.wait_for_selector("#pulse[data-state=on]")
    found = []
    for number in range(UPDATES):
        name = f"gpu-{(number // 2) * 37}"
        page.evaluate(_WATCH, name)
        began = time.time()
        api.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": number % 2 == 0}})
        found.append(float(page.evaluate("window.seen")) - 1000 * began)
        page.wait_for_timeout(200)
    return found


def reading(kubeconfig: Path) -> float:
    """The resident set of a process that has read the cluster and shows nothing, MiB."""
    command = [sys.executable, "-m", reader.__name__, str(kubeconfig)]
    return float(subprocess.run(command, check=True, capture_output=True).stdout)


def peak(service: Board) -> float:
    """The highest resident set of the dashboard's process so far, MiB."""
    return memory_of(service.pid, "VmHWM")


def row(name: str, figures: list[float], goal: float | None = None) -> Row:
    """Median and worst of `figures`, of which the worst has to stay below `goal`."""
    show: Callable[[float], str] = "{:.0f}".format
    said = "" if goal is None else f"< {goal:.0f}"
    met = "" if goal is None else "yes" if max(figures) < goal else "no"
    return [name, show(median(figures)), show(max(figures)), said, met]


def main(
    write_results: Annotated[bool, typer.Option("--write", help="Write the tables.")] = False,
) -> None:
    """Measure, and print the figures beside the goals."""
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        rows = measured(Path(folder), control)
    for one in [HEADER, *rows]:
        print(" | ".join(one))
    if write_results:
        text = (__doc__ or "").split(chr(10), 2)[2].strip()
        write_tables("dashboard", "The dashboard", f"{text}\n\n{markdown(HEADER, rows)}")
    if any(one[-1] == "no" for one in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
