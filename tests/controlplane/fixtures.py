"""Pytest fixtures: a control plane for each test that asks, ours or one that is given.

Load it with `pytest_plugins = ["tests.controlplane.fixtures"]` in the topmost conftest, or
import the fixtures by name into a conftest further down.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.controlplane.build import programs
from tests.controlplane.external import ExternalPlane
from tests.controlplane.plane import ControlPlane

KUBECONFIG = "FOURLEAF_E2E_KUBECONFIG"
"""The environment variable that names the kubeconfig file of a cluster to test on."""

FLAGS = "APISERVER_FLAGS"
"""The variable of a test module with further flags of kube-apiserver; clusters that are given have
their own."""

Plane = ControlPlane | ExternalPlane


@pytest.fixture(scope="session")
def control_plane_programs(pytestconfig: pytest.Config) -> dict[str, Path]:
    """Build what a control plane needs, in the open: it takes minutes the first time."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        return programs()


@pytest.fixture
def control_plane(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Plane]:
    """Start a control plane for one test, or take the one that the environment names."""
    yield from _plane(request, tmp_path)


@pytest.fixture(scope="module")
def module_control_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plane]:
    """Start a control plane for all tests of a module, which must not break it."""
    yield from _plane(request, tmp_path_factory.mktemp("plane"))


@pytest.fixture
def own_control_plane(control_plane: Plane) -> ControlPlane:
    """Take a control plane whose processes the test may kill, or skip the test."""
    if not isinstance(control_plane, ControlPlane):
        pytest.skip(f"{KUBECONFIG} is set, and the processes of that cluster are not ours")
    return control_plane


def _plane(request: pytest.FixtureRequest, folder: Path) -> Iterator[Plane]:
    given = os.environ.get(KUBECONFIG)
    if given:
        external = ExternalPlane(Path(given))
        try:
            yield external
        finally:
            external.stop()
        return
    request.getfixturevalue("control_plane_programs")
    if shutil.which("openssl") is None:
        pytest.fail("no `openssl` command, so a control plane has no keys; install openssl")
    more = getattr(request.module, FLAGS, ())
    with ControlPlane(folder / "plane", apiserver_flags=more) as plane:
        yield plane
