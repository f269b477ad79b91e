"""Which plugins take part in scheduling: said at the start, and by the status of a scheduler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from fourleaf.cli.render.status import server_lines
from fourleaf.k8s_bridge.reporting.installed_extensions import InstalledExtension, installed
from fourleaf.k8s_bridge.reporting.status import Status, status_document

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugins"
COMMAND = (sys.executable, "-c", "from fourleaf.cli.main import main; main()")


@pytest.fixture(name="packages")
def _packages(tmp_path: Path) -> Iterator[Path]:
    """A folder in which the package of the example is installed."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copy(EXAMPLE / "fourleaf_example_plugins.py", tmp_path)
    about = tmp_path / "fourleaf_example_plugins-0.1.0.dist-info"
    about.mkdir()
    text = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n"
    (about / "METADATA").write_text(text)
    sections = (
        f"[{group}]\n" + "".join(f"{name} = {what}\n" for name, what in points.items())
        for group, points in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("\n".join(sections))
    return tmp_path


def test_a_start_logs_each_plugin(packages: Path) -> None:
    """Kind, name, package, version and place, once each, before a cluster is reached."""
    command = [*COMMAND, "run", "--kubeconfig", "/nowhere"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(packages), str(ROOT)))}
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True, cwd="/")
    assert done.returncode == 2, done.stderr
    lines = [json.loads(one) for one in done.stderr.splitlines() if one.startswith("{")]
    told = [one for one in lines if one["msg"] == "plugin_installed"]
    assert [(one["kind"], one["name"]) for one in told] == [
        ("rule", "maintenance"),
        ("step", "pause"),
        ("term", "coolness"),
        ("term", "smallLeaves"),
    ]
    assert {(one["package"], one["version"], one["path"]) for one in told} == {
        ("fourleaf-example-plugins", "0.1.0", str(packages))
    }


def test_nothing_is_said_where_none_is_installed() -> None:
    """A scheduler of its own rules alone has no line about plugins."""
    assert installed() == ()
    assert not [line for line in lines() if line.startswith("plugins")]


def test_status_names_them_by_package() -> None:
    """A line for each package; what has none is named by its module."""
    found = lines(
        InstalledExtension("rule", "maintenance", "ours:Maintenance", "our-plugins", "0.1.0", "/x"),
        InstalledExtension("step", "pause", "ours:Pause", "our-plugins", "0.1.0", "/x"),
        InstalledExtension("term", "coolness", "theirs:Coolness"),
    )
    assert "plugins     our-plugins 0.1.0: rule maintenance and step pause" in found
    assert "            theirs:Coolness: term coolness" in found


def lines(*plugins: InstalledExtension) -> list[str]:
    """What `fourleaf status --server` prints of a scheduler with these."""
    status = Status("a", "0", True, "a", 1, 0.0, plugins=plugins)
    return [text.plain for text in server_lines(status_document(status), 0.0)]
