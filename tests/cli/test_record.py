"""`fourleaf record` on a cluster in memory, replayed by `fourleaf replay`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from typer.testing import CliRunner

from fourleaf.cli.main import app
from fourleaf.cli.verbs.record import follow
from fourleaf.dashboard.sources.live_cluster import LiveSource
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_nodes, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.protocol import Binding
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.simulator.recording.files import RecordingFiles, files_of


async def test_what_a_cluster_does_is_replayed(tmp_path: Path) -> None:
    """A gang of two is bound and deleted, one of three waits: both arrive again in the replay.

    The second says how long it runs, so it can be replayed although it was never seen to.
    """
    cluster = MemoryCluster()
    await add_nodes(cluster, nodes(1, 2, 4))
    files, stop = RecordingFiles(tmp_path), asyncio.Event()
    source = LiveSource("twin", cluster, SystemClock())
    task = asyncio.create_task(follow(source, files, 0.02, stop))

    async def seen(text: str) -> None:
        async with asyncio.timeout(20):
            while not any(text in path.read_text() for path in files_of(tmp_path)):
                await asyncio.sleep(0.01)

    pods = await submit(cluster, "ml", gang("first", 2))
    await seen('"name":"first"')
    for number, target in enumerate(pods):
        await cluster.bind(Binding(target, f"n-0-0-{number}"))
    await seen('"run"')
    says = {"topology.scheduler/expected-duration": "90m"}
    await submit(cluster, "ml", gang("second", 3, **says))
    await seen('"name":"second"')
    for target in pods:
        await cluster.delete(PODS, replace(target, version=""))
    await seen('"stop"')
    stop.set()
    await task
    done = CliRunner().invoke(app, ["replay", str(tmp_path), "--policy", "greedy", "-o", "json"])
    assert done.exit_code == 0, done.output
    (run,) = json.loads(done.stdout)["runs"]
    found = {one["name"]: (one["gpus"], one["nodes"], one["duration"]) for one in run["gangs"]}
    assert found["ml/second"] == (24, 3, 5400)
    assert found["ml/first"][:2] == (16, 2)
    assert all(one["start"] >= 0 for one in run["gangs"])


def test_the_bundled_trace_is_replayed_without_a_download() -> None:
    """No argument is needed; every gang starts."""
    done = CliRunner().invoke(
        app, ["replay", "--policy", "first-fit", "--period", "1800", "-o", "json"]
    )
    assert done.exit_code == 0, done.output
    (run,) = json.loads(done.stdout)["runs"]
    assert run["trace"] == "bundled"
    assert len(run["gangs"]) == 150
    assert min(one["start"] for one in run["gangs"]) >= 0
