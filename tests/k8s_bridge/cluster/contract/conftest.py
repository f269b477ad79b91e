"""Each test runs on the twin and on a real apiserver."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.live import connect
from tests.controlplane.fixtures import control_plane_programs, module_control_plane
from tests.k8s_bridge.cluster.contract.bench import Bench, RealBench, TwinBench, make_namespace

__all__ = ["control_plane_programs", "module_control_plane"]


@pytest.fixture(params=["twin", "real"])
async def bench(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    """Give a cluster with a namespace of the test's own."""
    if request.param == "twin":
        twin = TwinBench()
        await make_namespace(twin)
        yield twin
        return
    plane = request.getfixturevalue("module_control_plane")
    with plane.api() as api:
        cluster = await connect(str(plane.kubeconfig()))
        real = RealBench(cluster, plane, api, monkeypatch.setattr)
        await make_namespace(real)
        yield real
        await cluster.close()
