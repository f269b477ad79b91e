"""Nodes that are silent, while the API still has them for ready: what `why` and `status` say."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from fourleaf.cli.cluster import read_cluster
from fourleaf.cli.cluster.silent_nodes import silences
from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, actors
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.k8s_bridge.election.lease import lease_body
from fourleaf.model.readers.objects.annotations import REPAIR_POLICY
from tests.cli.conftest import Run

KUBELETS = "kube-node-lease"


@pytest.mark.parametrize(
    ("renewed", "silent"),
    [
        ({"a": 100, "b": 95, "c": 70}, {"c": 30}),
        ({"a": 100, "b": 89}, {}),
        ({"a": 70, "b": 71, "c": 72}, {}),
        ({"a": 3700, "b": 100, "c": 96, "d": 98}, {}),
        ({"a": 100, "b": 98, "c": -3500}, {}),
        ({}, {}),
    ],
    ids=["one", "just late", "all alike", "a clock ahead", "a clock behind", "none"],
)
def test_who_is_silent(renewed: dict[str, float], silent: dict[str, float]) -> None:
    """Who is late beside the others; a clock that is wrong makes nobody silent."""
    assert silences(renewed) == silent


async def cluster(leads: bool = True, silent: int = 1, policy: str = "move") -> MemoryCluster:
    """A gang of two on the first two of four nodes; `silent` of these were heard 27 s ago."""
    made = MemoryCluster()
    await actors.add_nodes(made, actors.nodes(1, 2, 2))
    bodies = actors.gang("pair", 2)
    for body in bodies:
        body["metadata"]["annotations"][REPAIR_POLICY] = policy
    pods = await actors.submit(made, "ml", bodies)
    now = time.time()
    for index, body in enumerate(actors.nodes(1, 2, 2)):
        name = body["metadata"]["name"]
        if index < len(pods):
            await made.bind(Binding(pods[index], name))
        at = datetime.fromtimestamp(now - (27.4 if index < silent else 3.0), UTC).isoformat()
        lease = {"metadata": {"name": name}, "spec": {"renewTime": at}}
        await made.create(LEASES, KUBELETS, lease)
    if leads:
        lease = lease_body("fourleaf-scheduler", "a", 15, 1, now - 2)
        await made.create(LEASES, "kube-system", lease)
    return made


def reached(monkeypatch: pytest.MonkeyPatch, made: MemoryCluster) -> None:
    """Let verbs reach `made`."""

    @asynccontextmanager
    async def connected(*_: Any) -> AsyncIterator[MemoryCluster]:
        yield made

    monkeypatch.setattr(read_cluster, "connected", connected)


def test_a_member_on_a_silent_node(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Which pod, on which node, for how long, by which rule the node is dead, and what follows."""
    reached(monkeypatch, asyncio.run(cluster()))
    told = run("why", "pair")
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()
    assert lines[0] == "ml/pair  runs as far as is known: 2 pods on leaf-0-0"
    assert "  its node sends no heartbeats: pair-0 on n-0-0-0 for 25 s" in lines
    assert " ".join(told.stdout.split()).endswith(
        "a node is dead after 20 s if its host does not answer the scheduler either, or once the "
        "API has it for not ready; then its lost pods go elsewhere, and others move with them "
        "where need be"
    )
    document = json.loads(run("why", "pair", "-o", "json").stdout)
    assert [one["silentSeconds"] for one in document["pods"]] == [25, None]
    assert json.loads(run("status", "-o", "json").stdout)["gangs"]["onSilentNodes"] == ["ml/pair"]
    line = "pods on nodes that send no heartbeats: ml/pair; see `fourleaf why`"
    assert line in run("status").stdout


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("wait", "then the gang waits for it: its repair-policy is wait"),
        ("patch", "then its lost pods go elsewhere"),
        ("restart", "then what is left of the gang starts over in the queue"),
    ],
)
def test_what_comes_is_what_the_gang_wants(
    monkeypatch: pytest.MonkeyPatch, run: Run, policy: str, words: str
) -> None:
    """By its own repair policy, not by what is usual."""
    reached(monkeypatch, asyncio.run(cluster(policy=policy)))
    assert " ".join(run("why", "pair").stdout.split()).endswith(words)


def test_where_most_nodes_are_silent(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """No kubelet says how late it is, but the leader does; none is dead for that, as both say."""
    reached(monkeypatch, asyncio.run(cluster(silent=3)))
    told = " ".join(run("why", "pair").stdout.split())
    assert told.startswith("ml/pair runs as far as is known: 2 pods on leaf-0-0")
    assert "its node sends no heartbeats: pair-0 on n-0-0-0 for 25 s" in told
    assert "3 of 4 nodes are silent or not ready: where most fell silent together, none" in told
    nodes = json.loads(run("status", "-o", "json").stdout)["nodes"]
    assert (nodes["away"], nodes["mostAway"]) == (3, True)
    told = " ".join(run("status").stdout.split())
    assert "3 are silent or not ready: where most fell silent together, none of them is" in told


def test_two_of_four_are_not_most(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Two nodes may fail together: those are dead like any other."""
    reached(monkeypatch, asyncio.run(cluster(silent=2)))
    assert "fell silent together" not in run("why", "pair").stdout
    nodes = json.loads(run("status", "-o", "json").stdout)["nodes"]
    assert (nodes["away"], nodes["notReady"], nodes["mostAway"]) == (2, 0, False)
    told = " ".join(run("status").stdout.split())
    named = " and ".join(nodes["silent"])
    assert len(nodes["silent"]) == 2
    assert f"2 ready as the API has it, without heartbeats: {named}" in told


def test_how_many_nodes_are_lost(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Those that the API has given up, and silent ones, each by its own number; else nothing."""
    made = asyncio.run(cluster(silent=1))
    down = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    asyncio.run(made.patch(NODES, Target("", "n-0-1-1"), down, "status"))
    reached(monkeypatch, made)
    told = " ".join(run("status").stdout.split())
    assert "1 not ready, where no pod starts: see `kubectl get nodes`; 1 ready as the" in told
    reached(monkeypatch, asyncio.run(cluster(silent=0)))
    told = run("status").stdout
    assert "not ready" not in told
    assert "heartbeats" not in told


def test_where_no_scheduler_leads(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """The silence is told; nobody is there whom the host could answer."""
    reached(monkeypatch, asyncio.run(cluster(leads=False)))
    told = run("why", "pair").stdout
    assert "its node sends no heartbeats: pair-0" in told
    assert "a node is dead after" not in told


@pytest.mark.parametrize("leads", [False, True])
def test_a_gang_that_waits_for_a_leader(
    monkeypatch: pytest.MonkeyPatch, run: Run, leads: bool
) -> None:
    """It has room, and no replica leads: it waits, as the exit code says too."""
    made = asyncio.run(cluster(leads=leads))
    asyncio.run(actors.submit(made, "ml", actors.gang("late", 1)))
    reached(monkeypatch, made)
    told = run("why", "late")
    assert told.exit_code == (0 if leads else 3)
    said = "ml/late  no scheduler leads, and nothing starts until one does" in told.stdout
    assert said is not leads
    assert "would be placed now" in told.stdout


def test_who_may_not_read_heartbeats(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """A tenant without a right to Leases of kubelets is answered as the API has the nodes."""
    made = asyncio.run(cluster())

    async def listed(kind: Kind, namespace: str = "", *words: Any, **more: Any) -> Any:
        if namespace == KUBELETS:
            raise Refused(403, "leases is forbidden")
        return await MemoryCluster.list(made, kind, namespace, *words, **more)

    monkeypatch.setattr(made, "list", listed)
    reached(monkeypatch, made)
    told = run("why", "pair")
    assert told.exit_code == 0
    assert told.stdout.startswith("ml/pair  runs: 2 pods on leaf-0-0\n")


def test_a_node_that_the_api_has_given_up(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """It is not ready, which says more than that it is silent."""
    made = asyncio.run(cluster())
    down = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    asyncio.run(made.patch(NODES, Target("", "n-0-0-0"), down, "status"))
    reached(monkeypatch, made)
    told = run("why", "pair").stdout
    assert told.startswith("ml/pair  runs as far as is known: 2 pods on leaf-0-0\n")
    assert "its node is not ready: pair-0 on n-0-0-0\n" in told
    assert "heartbeats" not in told
    assert json.loads(run("status", "-o", "json").stdout)["gangs"]["onSilentNodes"] == []
