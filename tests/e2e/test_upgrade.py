"""Old and new versions follow each other in the middle of commits, on a real apiserver.

The old one is this version made to know format 1 alone; what it does with format 2 is what every
version does with a format that it does not know.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.api import MERGE_PATCH, Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.processes import Process
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches, formats, holds
from tests.e2e.replica import ROOT, grant

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
CONFIG = "/api/v1/namespaces/kube-system/configmaps"
NAME = "topology-scheduler-config"
OLD, NEW = ("1",), ()
"""What a process is told to know: format 1 alone, or all that it does."""


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Plane:
    """Four leaves of four nodes."""
    create_fleet(module_control_plane.kubeconfig(), Fleet(16))
    grant(module_control_plane, "scheduler-a", "scheduler-b")
    return module_control_plane


@pytest.fixture
def stage(plane: Plane, tmp_path: Path) -> Iterator[Stage]:
    """A cluster whose schedulers are replaced again and again."""
    with plane.api() as api:
        stage = Stage(plane, api, tmp_path)
        yield stage
        stage.end()


class Stage:
    """The cluster, the scheduler that leads it, and the gangs that have been submitted."""

    def __init__(self, plane: Plane, api: Api, folder: Path) -> None:
        self.api = api
        self._plane, self._folder = plane, folder
        self._started: list[Process] = []
        self.gangs: dict[str, int] = {}
        self.space = api.new_namespace()

    def start(self, known: tuple[str, ...], when: str = "never", at: int = 0) -> Process:
        """Start a scheduler and wait until it leads, or has died on the way there."""
        number = len(self._started)
        kubeconfig = self._plane.kubeconfig(("scheduler-a", "scheduler-b")[number % 2])
        words = [str(kubeconfig), when, str(at), *known]
        command = [sys.executable, "-m", "tests.e2e.dying", *words]
        title = f"{number} {'old' if known else 'new'} {when} {at}"
        one = Process(title, command, self._folder / f"{title.replace(' ', '-')}.log")
        self._started.append(one)
        one.start()
        eventually(lambda: "took_over" in one.log.read_text() or not one.running, f"{title} leads")
        return one

    def stop(self, one: Process) -> None:
        """Kill a scheduler, and spare the next one the wait for its Lease."""
        one.kill()
        self.api.patch(f"{LEASES}/fourleaf-scheduler", {"spec": {"holderIdentity": ""}})

    def end(self) -> None:
        """End every process."""
        for one in self._started:
            one.kill()

    def submit(self, gang: str, size: int) -> None:
        """A gang of whole-node pods arrives."""
        self.gangs[gang] = size
        marks = {"topology.scheduler/gang": gang, "topology.scheduler/gang-size": str(size)}
        for index in range(size):
            spec = {
                "schedulerName": "topology-aware-scheduler",
                "terminationGracePeriodSeconds": 0,
                "containers": [container(8)],
            }
            metadata = {"name": f"{gang}-{index}", "annotations": marks}
            self.api.create(self._pods, {"metadata": metadata, "spec": spec})

    def clear(self, gang: str) -> None:
        """A gang is deleted at once."""
        for index in range(self.gangs.pop(gang)):
            path = f"{self._pods}/{gang}-{index}?gracePeriodSeconds=0"
            self.api.request("DELETE", path)

    def places(self, gang: str) -> dict[str, tuple[str, str]]:
        """Pod -> UID and node, of those that are bound."""
        return {
            pod["metadata"]["name"]: (pod["metadata"]["uid"], pod["spec"]["nodeName"])
            for pod in self.api.get(self._pods)["items"]
            if pod["metadata"]["name"].startswith(f"{gang}-") and holds(pod)
        }

    def runs(self, gang: str) -> bool:
        """Whether all of a gang is bound."""
        return len(self.places(gang)) == self.gangs[gang]

    def sound(self) -> bool:
        """At rest without a double booking, a partial gang, or a record that is not true."""
        gangs = [[f"{gang}-{i}" for i in range(size)] for gang, size in self.gangs.items()]
        return not breaches(self.api, gangs)

    def told(self, pod: str) -> str:
        """Why a pod waits, as its condition says."""
        body = self.api.get(f"{self._pods}/{pod}")
        conditions = body["status"].get("conditions", [])
        return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")

    def set_format(self, number: int | None) -> None:
        """The operator sets the format of the ledger, or takes the setting out again."""
        with suppress(ApiError):
            self.api.create(CONFIG, {"metadata": {"name": NAME}, "data": {}})
        head = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\nspec:\n"
        ledger = "" if number is None else f"  ledger: {{format: {number}}}\n"
        data = {"config.yaml": f"{head}  batch: {{size: 100}}\n{ledger}"}
        self.api.patch(f"{CONFIG}/{NAME}", {"data": data}, MERGE_PATCH)

    def sealed(self) -> dict[str, str]:
        """Name -> resource version of the records in format 2."""
        return {
            one["metadata"]["name"]: one["metadata"]["resourceVersion"]
            for one in self.api.get(LEASES)["items"]
            if "alloc.gpu.scheduling/format" in (one["metadata"].get("annotations") or {})
        }

    def events(self) -> set[str]:
        """The reasons of the events about Leases."""
        items = self.api.get("/apis/events.k8s.io/v1/events")["items"]
        return {e["reason"] for e in items if e.get("regarding", {}).get("kind") == "Lease"}

    @property
    def kubeconfig(self) -> Path:
        """How an operator gets at the cluster."""
        return self._plane.kubeconfig()

    @property
    def _pods(self) -> str:
        return f"/api/v1/namespaces/{self.space}/pods"


def dies_in_a_commit(stage: Stage, victim: Process) -> None:
    """Gangs keep coming: the leader is killed at its write in the commit of one of eight."""
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGUSR1)
    eventually(lambda: "armed" in victim.log.read_text(), f"{victim.name} is doomed")
    stage.submit("wide", 8)
    eventually(lambda: not victim.running, f"{victim.name}: it dies")


def is_followed(stage: Stage, heir: Process, *gangs: str) -> None:
    """The next one brings what was under way to run whole, and frees it when it is over."""
    eventually(lambda: all(map(stage.runs, gangs)), f"{heir.name}: all run")
    eventually(stage.sound, f"{heir.name}: at rest without a breach")
    for gang in gangs:
        stage.clear(gang)
    eventually(stage.sound, f"{heir.name}: pages are free again")


def holds_back(stage: Stage) -> None:
    """The old one follows a new one that wrote format 2: it leaves that alone, and says so.

    A gang is committed and none of it bound, so nothing but the records shows who has those nodes.
    """
    sealed = stage.sealed()
    assert sealed
    assert not stage.places("wide")
    old = stage.start(OLD)
    stage.submit("late", 4)
    eventually(lambda: "RecordUnreadable" in stage.events(), f"{old.name}: an event says so")
    eventually(lambda: stage.told("late-0"), f"{old.name}: the gang is told why it waits")
    assert stage.sealed() == sealed
    assert not stage.places("wide")
    assert not stage.places("late")
    stage.stop(old)


def test_upgrade_and_rollback_lose_nothing(stage: Stage) -> None:
    """A gang that runs all the while is never touched, and every other one runs whole in the end.

    Old and new take turns in format 1; the format is raised; a rollback without preparation
    stands still until the new one is back; then the format is lowered, and the old one leads.
    """
    leader = stage.start(OLD, "later-after", 3)
    stage.submit("stays", 4)
    eventually(lambda: stage.runs("stays"), "the first gang runs")
    eventually(stage.sound, "at rest")
    stays = stage.places("stays")
    for known, when, at in ((NEW, "after", 10), (OLD, "after", 9), (NEW, "before", 5)):
        dies_in_a_commit(stage, leader)
        leader = stage.start(known, f"later-{when}", at)
        is_followed(stage, leader, "wide")
        assert formats(stage.api) == {"1"}
    stage.set_format(2)
    eventually(lambda: formats(stage.api) == {"2"}, "the format is raised")
    dies_in_a_commit(stage, leader)
    holds_back(stage)
    leader = stage.start(NEW, "later-before", 9)
    is_followed(stage, leader, "wide", "late")
    stage.set_format(None)
    dies_in_a_commit(stage, leader)
    leader = stage.start(NEW)
    is_followed(stage, leader, "wide")
    eventually(lambda: formats(stage.api) == {"1"}, "the format is lowered")
    stage.stop(leader)
    assert "all records are format 1" in status(stage)
    leader = stage.start(OLD)
    stage.submit("wide", 8)
    is_followed(stage, leader, "wide")
    assert stage.places("stays") == stays
    assert stage.sound()


def status(stage: Stage) -> str:
    """What `fourleaf status` prints; nobody leads, so it ends with 3."""
    main = "from fourleaf.cli.main import main; main()"
    command = [sys.executable, "-c", main, "status", "--kubeconfig", str(stage.kubeconfig)]
    done: Any = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    return str(done.stdout)
