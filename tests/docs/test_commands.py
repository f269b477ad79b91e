"""Every command in the documents does what the document says."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.build import cache_folder, program
from tests.controlplane.fixtures import control_plane_programs
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import eventually
from tests.docs.outputs import told_apart
from tests.docs.pages import Page, read_page
from tests.docs.shell import Shell

ROOT = Path(__file__).parents[2]
PATHS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")})
PAGES = [page for page in map(read_page, PATHS) if page.steps]
NODES = 64


__all__ = ["control_plane_programs"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.path.relative_to(ROOT)))
def test_every_command_of_the_page_works(
    page: Page, desk: Path, request: pytest.FixtureRequest, subtests: pytest.Subtests
) -> None:
    """Typed one after the other, each command of a page ends and prints as the page says."""
    environment = dict(request.getfixturevalue("cluster" if page.needs_cluster else "files"))
    with Shell(desk, environment) as shell:
        for step in page.steps:
            if step.skipped is None:
                said = shell.run(step)
                missing = told_apart(step.prints, said)
                assert not missing, f"line {step.line} shows {missing!r}, and not so\n{said}"
                continue
            with subtests.test(line=step.line, command=step.command):
                pytest.skip(step.skipped)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder that looks like the checkout and may be written to."""
    folder = tmp_path / "fourleaf"
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name not in {".git", ".pytest_cache", ".hypothesis"}:
            (folder / path.name).symlink_to(path)
    if not (folder / ".venv").exists():
        (folder / ".venv").symlink_to(sys.prefix)
    if not _installed(folder):
        pytest.skip("`make install` is due: a page would install through a link into its target")
    return folder


def _installed(folder: Path) -> bool:
    """Whether `make` finds nothing to install there."""
    stamp = folder / ".venv" / ".installed"
    made = stamp.stat().st_mtime if stamp.exists() else 0.0
    return all(made >= (folder / name).stat().st_mtime for name in ("pyproject.toml", "uv.lock"))


@pytest.fixture
def files() -> Mapping[str, str]:
    """The environment of a reader who has no cluster."""
    return _environment()


@pytest.fixture
def cluster(control_plane_programs: object, tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """The environment of a reader who has a cluster of 64 GPU nodes, and kubectl."""
    with ControlPlane(tmp_path / "plane") as plane:
        plane.controller_manager()
        plane.kwok()
        create_fleet(plane.kubeconfig(), Fleet(NODES), ready=False)
        with plane.api() as api:
            eventually(lambda: _ready(api.get("/api/v1/nodes")["items"]) == NODES, "nodes run")
        yield _environment(KUBECONFIG=str(plane.kubeconfig()))


def _ready(nodes: list[dict[str, Any]]) -> int:
    conditions = [each for node in nodes for each in node["status"].get("conditions", ())]
    return sum(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("LANG", "TOPOLOGY_DATA_DIR") if name in os.environ}
    # The reader's home is a new one; what was built before is found all the same.
    kept["XDG_CACHE_HOME"] = str(cache_folder().parents[1])
    tools = (program("kubectl").parent, Path(sys.prefix) / "bin")
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    return {**kept, **more, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
