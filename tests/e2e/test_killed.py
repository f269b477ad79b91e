"""SIGKILL before and after every write of a commit of 8 members, on a real apiserver."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.processes import Process
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import grant

WRITES = 1 + 2 + 1 + 8 + 2 + 1
"""Gang lease, two pages, commit, eight bindings, two pages settled, the gang lease deleted."""

ATTEMPTS = 3
"""Victims of one write."""


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Plane:
    """Two leaves of four nodes: exactly one place for a gang of eight."""
    create_fleet(module_control_plane.kubeconfig(), Fleet(8))
    grant(module_control_plane, "scheduler-a", "scheduler-b")
    return module_control_plane


@pytest.fixture
def api(plane: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with plane.api() as api:
        yield api


def scheduler(plane: Plane, role: str, folder: Path, when: str = "never", at: int = 0) -> Process:
    """A scheduler process that dies at a write, or never."""
    command = [sys.executable, "-m", "tests.e2e.dying", str(plane.kubeconfig(role)), when, str(at)]
    return Process(f"{role} {when} {at}", command, folder / f"{role}-{when}-{at}.log")


def submit(api: Api, namespace: str) -> list[str]:
    """A gang of eight whole-node pods; their names."""
    names = [f"g-{i}" for i in range(8)]
    for name in names:
        body: dict[str, Any] = {
            "metadata": {
                "name": name,
                "annotations": {
                    "topology.scheduler/gang": "g",
                    "topology.scheduler/gang-size": "8",
                },
            },
            "spec": {
                "schedulerName": "topology-aware-scheduler",
                "terminationGracePeriodSeconds": 0,
                "containers": [container(8)],
            },
        }
        api.create(f"/api/v1/namespaces/{namespace}/pods", body)
    return names


def all_bound(api: Api, namespace: str) -> bool:
    """Whether all eight run."""
    items = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return len(items) == 8 and all(holds(pod) for pod in items)


def clear(api: Api, namespace: str) -> None:
    """Delete the gang at once."""
    for i in range(8):
        path = f"/api/v1/namespaces/{namespace}/pods/g-{i}?gracePeriodSeconds=0"
        api.request("DELETE", path)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("standby", [False, True], ids=["restart", "standby"])
def test_killed_at_every_write(
    plane: Plane, api: Api, tmp_path: Path, when: str, standby: bool
) -> None:
    """Whoever comes next finds all or nothing, and brings the gang to run whole."""
    for at in range(1, WRITES + 1):
        for attempt in range(ATTEMPTS):
            folder = tmp_path / str(attempt)
            folder.mkdir(exist_ok=True)
            victim = scheduler(plane, "scheduler-a", folder, when, at)
            heir = scheduler(plane, "scheduler-b", folder, "never", at)
            victim.start()
            try:
                if die_and_be_followed(api, victim, heir, standby):
                    break
            finally:
                victim.kill()
                heir.kill()
                _forget_leader(api)
        else:
            pytest.fail(f"{victim.name}: it lost the lead each time, and died at no write")


def die_and_be_followed(api: Api, victim: Process, heir: Process, standby: bool) -> bool:
    """Let the victim die in a commit, and the heir bring the gang to run whole.

    Whether the victim got that far: it loses the lead where the machine is busy for a second.
    """
    namespace = api.new_namespace()
    eventually(lambda: _leads(victim), "the victim leads")
    if standby:
        heir.start()
    submit(api, namespace)
    eventually(lambda: not victim.running or _follows(heir), f"{victim.name}: it dies")
    died = not victim.running
    if not standby:
        heir.start()
    eventually(lambda: all_bound(api, namespace), f"{victim.name}: all run")
    eventually(lambda: not breaches(api), f"{victim.name}: at rest without a breach")
    clear(api, namespace)
    eventually(lambda: not breaches(api), f"{victim.name}: pages are free again")
    return died


def _leads(process: Process) -> bool:
    return "took_over" in process.log.read_text()


def _follows(heir: Process) -> bool:
    """Whether it has been started, and leads."""
    return heir.running and _leads(heir)


def _forget_leader(api: Api) -> None:
    """Spare the next round the wait for the dead leader's Lease."""
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fourleaf-scheduler"
    api.patch(path, {"spec": {"holderIdentity": ""}})


def test_the_writes_are_those_that_are_counted(plane: Plane, api: Api, tmp_path: Path) -> None:
    """A commit of eight members on two pages takes as many writes as the test above kills at."""
    namespace = api.new_namespace()
    whole = scheduler(plane, "scheduler-a", tmp_path)
    whole.start()
    try:
        eventually(lambda: _leads(whole), "it leads")
        submit(api, namespace)
        eventually(lambda: all_bound(api, namespace), "all run")
        eventually(lambda: not breaches(api), "at rest")
        lines = [line for line in whole.log.read_text().splitlines() if line.startswith("write ")]
        assert len(lines) == WRITES
        clear(api, namespace)
        eventually(lambda: not breaches(api), "free again")
    finally:
        whole.kill()
        _forget_leader(api)
