"""A snapshot is read as the cluster was: one broken gang in it keeps no other from an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourleaf.cli.cluster.read_cluster import ClusterAccess, Live, read_live
from fourleaf.cli.verbs.snapshot import document
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, actors
from fourleaf.model.gang import GangKey
from fourleaf.model.readers import open_paths
from fourleaf.model.reasons.kinds import ReasonKind
from tests.cli.conftest import Run

Write = Callable[[str, str], Path]

BAD, GOOD = GangKey("ml", "bad"), GangKey("ml", "pair")
POLICY = "topology.scheduler/topology-policy"


async def _taken() -> Live:
    """Two leaves of two nodes, a gang of two that waits, and one with a policy that is none."""
    made = MemoryCluster()
    await actors.add_nodes(made, actors.nodes(1, 2, 2))
    await actors.submit(made, GOOD.namespace, actors.gang(GOOD.name, 2))
    await actors.submit(made, BAD.namespace, actors.gang(BAD.name, 1, **{POLICY: "Sometimes"}))
    return await read_live(made, ClusterAccess())


@pytest.fixture(scope="module", name="live")
def _live() -> Live:
    return asyncio.run(_taken())


@pytest.fixture(name="file")
def _file(live: Live, write: Write) -> Path:
    """What `fourleaf snapshot` writes of it."""
    return write("now.json", json.dumps(document(live)))


@pytest.mark.parametrize(
    ("words", "code", "seen"),
    [
        (("plan",), 3, "pair"),
        (("plan", "--what-if", "topologyAlignment=1"), 3, "1 in place, 1 still waiting"),
        (("score",), 3, "pair"),
        (("why", "pair"), 0, "pair"),
        (("drain", "leaf-0-0"), 0, ""),
        (("defrag",), 0, ""),
        (("queue",), 0, "pair"),
        (("queue", "--start"), 0, "pair"),
        (("replay", "--policy", "greedy"), 0, "1 waiting gangs left out"),
    ],
)
def test_every_verb_goes_on(
    run: Run, file: Path, words: tuple[str, ...], code: int, seen: str
) -> None:
    """The others are planned, and what is wrong with the one is a warning."""
    result = run(*words, "-f", file)
    assert (result.exit_code, seen in result.stdout) == (code, True), result.output
    assert "error:" not in result.stderr
    if words[0] != "why":
        assert f"warning: {file}: Pod {BAD.namespace}/bad-0" in result.stderr
        assert "Use one of: Required, Preferred." in result.stderr


def test_tune_goes_on(run: Run, file: Path, live: Live, write: Write, tmp_path: Path) -> None:
    """It learns from what waits in the one snapshot, and is judged by the other."""
    later = write("later.json", json.dumps(document(live)))
    study = f"journal:///{tmp_path}/study"
    words = ("tune", "-f", file, "-f", later, "--trials", "1", "--storage", study)
    result = run(*words)
    assert result.exit_code in (0, 3), result.output
    for one in (file, later):
        assert f"warning: {one}: Pod {BAD.namespace}/bad-0" in result.stderr


def test_the_dashboard_shows_the_rest(file: Path) -> None:
    """The broken gang is held as Invalid, what is wrong with it is told, and the other waits."""
    source = FileSource("now", open_paths([file]))
    moment = source.moment()
    gangs = moment.snapshot.gangs_by_key
    hold = gangs[BAD].hold
    assert hold is not None
    assert (hold.reason.kind, gangs[GOOD].hold) == (ReasonKind.INVALID, None)
    assert ["bad-0" in one.object for one in moment.problems if one.is_error] == [True]
    assert gangs.keys() == source.beside([]).gangs_by_key.keys()


def _unmarked(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "metadata"}


def test_what_people_write_is_read_strictly(run: Run, live: Live, write: Write) -> None:
    """Without the mark, as of manifests, what is broken is an error; beside a snapshot too."""
    bare = write("bare.json", json.dumps(_unmarked(document(live))))
    result = run("plan", "-f", bare)
    assert (result.exit_code, f"error: {bare}: Pod ml/bad-0" in result.stderr) == (2, True)

    metadata = {"name": "alone", "annotations": {POLICY: "Never"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": actors.pod("x")["spec"]}
    mine = write("mine.json", json.dumps(pod))
    beside = run("plan", "-f", write("now.json", json.dumps(document(live))), "-f", mine)
    assert (beside.exit_code, "bad-0" in beside.stderr) == (2, False)
    assert f"error: {mine}: Pod default/alone" in beside.stderr


def test_two_snapshots_of_one_cluster_are_no_cluster(run: Run, live: Live, write: Write) -> None:
    """No cluster holds an object twice, so nothing is guessed of which one it had."""
    files = [write(name, json.dumps(document(live))) for name in ("then.json", "now.json")]
    result = run("queue", "-f", files[0], "-f", files[1])
    assert (result.exit_code, "stands twice in the input" in result.stderr) == (2, True)


def test_a_gang_whose_owner_is_gone_is_held_as_in_the_cluster(write: Write) -> None:
    """A snapshot leaves nothing out, so an owner that it lacks is not there."""
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "gone",
        "uid": "1",
        "controller": True,
    }

    async def taken() -> Live:
        made = MemoryCluster()
        await actors.add_nodes(made, actors.nodes(1, 2, 2))
        (pod,) = actors.gang("orphan", 1)
        pod["metadata"]["ownerReferences"] = [owner]
        await actors.submit(made, "ml", [pod])
        return await read_live(made, ClusterAccess())

    live = asyncio.run(taken())
    file = write("now.json", json.dumps(document(live)))
    held = [one.hold for one in live.reading().snapshot.gangs]
    assert [one.hold for one in FileSource("", open_paths([file])).moment().snapshot.gangs] == held
    assert held[0] is not None
