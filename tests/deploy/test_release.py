"""A release: one version, workflows that do what they say, and what each environment weighs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.generated import CHARTS, DEPLOY, version

ROOT = DEPLOY.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
UV = Path(sys.executable).with_name("uv")
MEGABYTE = 10**6
WAITING = 3
"""How `plan` ends where a gang has to wait."""
LIMITS = {"": 480, "with-dashboard": 510, "with-agent": 200, "with-webhook": 240}
"""Stage of the Dockerfile -> MB of its environment with bytecode; "": without any extra."""


ALL_OF_THE_AGENT = """
import importlib, pkgutil
import fourleaf.agent, fourleaf.cli.verbs.agent
for one in pkgutil.walk_packages(fourleaf.agent.__path__, "fourleaf.agent."):
    importlib.import_module(one.name)
"""
"""Imports each module of the agent, in an environment that has what its image has."""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_and_rights_are_named(path: Path) -> None:
    """A tag can be moved to other code; the comment says which version the commit is."""
    text = path.read_text()
    used = re.findall(r"uses: (.*)$", text, re.MULTILINE)
    assert used
    for one in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_the_version_stands_in_one_place() -> None:
    """Charts follow it, and the workflow refuses a tag of another."""
    for path in CHARTS.glob("*/Chart.yaml"):
        chart = yaml.safe_load(path.read_text())
        assert (chart["version"], chart["appVersion"]) == (version(), version())
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yaml").read_text())
    script = "".join(one.get("run", "") for one in release["jobs"]["check"]["steps"])
    assert '"v$version" != "$GITHUB_REF_NAME"' in script
    needs: dict[str, Any] = {name: job.get("needs", []) for name, job in release["jobs"].items()}
    assert all("check" in one for name, one in needs.items() if name != "check")


@pytest.mark.parametrize(
    "page", ["README.md", "docs/install.md", "deploy/charts/fourleaf/README.md"]
)
def test_the_chart_is_installed_from_where_a_release_pushes_it(page: str) -> None:
    """Each page that installs has the command with that registry, and no other one."""
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yaml").read_text())
    steps = "".join(one.get("run", "") for one in release["jobs"]["charts"]["steps"])
    assert '"oci://$REGISTRY/charts"' in steps
    named = re.findall(r"helm install fourleaf (oci://\S+)", (ROOT / page).read_text())
    assert {*named} == {f"oci://{release['env']['REGISTRY']}/charts/fourleaf"}


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_a_first_installation_makes_its_namespace(page: str) -> None:
    """A command that stands alone says `--create-namespace`: helm makes none by itself."""
    text = (ROOT / page).read_text()
    alone = re.findall(r"(?:^\$|`)\s?(helm install fourleaf \S+ -n \S+[^`\n]*)", text, re.MULTILINE)
    made = "kubectl create namespace fourleaf-system" in text
    lacking = [one for one in alone if "--create-namespace" not in one and "--dry-run" not in one]
    assert alone
    assert not [one for one in lacking if not (made and one.endswith("\\"))]


def test_a_release_hides_no_warning() -> None:
    """What packages the chart throws no message away, and gets none: links are followed before."""
    script = (ROOT / ".ci" / "release-check").read_text()
    assert "/dev/null" not in script
    assert "--dereference" in script


def test_the_plugin_of_kubectl_says_what_it_needs(tmp_path: Path) -> None:
    """Without uv and pipx it ends with advice that names the version."""
    script = tmp_path / "kubectl-fourleaf"
    script.write_text(
        (DEPLOY / "krew" / "kubectl-fourleaf").read_text().replace("VERSION", version())
    )
    command = ["/bin/sh", str(script), "queue"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": ""}, check=False)
    assert done.returncode == 2
    assert "Advice: Install uv" in done.stderr
    assert f"pip install fourleaf=={version()}" in done.stderr
    body = yaml.safe_load((DEPLOY / "krew" / "fourleaf.yaml").read_text())
    (platform,) = body["spec"]["platforms"]
    assert platform["bin"] == script.name


@pytest.mark.deep
@pytest.mark.parametrize("stage", LIMITS)
def test_an_environment_weighs_no_more_than_what_it_runs(stage: str, tmp_path: Path) -> None:
    """As the image makes it, with bytecode and Fourleaf itself."""
    text = (DEPLOY / "images" / "Dockerfile").read_text().replace("\\\n", " ")
    words = ["--frozen", "--no-dev", "--no-install-project"]
    if stage:
        part = text.partition(f" AS {stage}\n")[2]
        words = re.findall(r"uv sync ([^&\n]*)", part)[0].split()
    without = re.findall(r'WITHOUT="([^"]*)"', text)[0].split()
    words = [one for word in words for one in (without if word == "$WITHOUT" else [word])]
    home = tmp_path / "env"
    more = {"UV_PROJECT_ENVIRONMENT": str(home), "UV_COMPILE_BYTECODE": "1"}
    run_uv("sync", "--python", sys.executable, *words, **more)
    run_uv("build", "--wheel", "--no-build-isolation", "--out-dir", str(tmp_path), **more)
    (wheel,) = tmp_path.glob("*.whl")
    python = str(home / "bin" / "python")
    run_uv("pip", "install", "--python", python, "--no-deps", str(wheel), **more)
    verb = [
        home / "bin" / "fourleaf",
        *(["plan", "-f", ROOT / "examples"] if not stage else ["--version"]),
    ]
    done = subprocess.run(verb, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, WAITING), done.stderr
    size = sum(one.lstat().st_size for one in home.rglob("*") if one.is_file())
    assert size <= LIMITS[stage] * MEGABYTE, f"{size / MEGABYTE:.1f} MB"
    if stage == "with-agent":
        done = subprocess.run(
            [home / "bin" / "python", "-c", ALL_OF_THE_AGENT],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


def run_uv(*words: str, **environment: str) -> None:
    """Run uv in the checkout."""
    command = [str(UV), *words, "--quiet"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=True)
