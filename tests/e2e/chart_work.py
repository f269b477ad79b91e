"""Schedulers and gangs of a cluster that a release of the chart runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.processes import Process
from tests.controlplane.waiting import eventually
from tests.deploy.generated import SYSTEM
from tests.e2e.accounts import account
from tests.e2e.attacks import DEVICES, pod
from tests.e2e.checker import breaches
from tests.e2e.hook import claim, claims
from tests.e2e.replica import Replica

ACCOUNT = (SYSTEM, "fourleaf-scheduler")
TIDY = 60.0
"""Seconds until the scheduler has put away what a commit left."""
SIZE = 8
GANG = [f"wide-{index}" for index in range(SIZE)]


@contextmanager
def scheduler(plane: Plane, api: Api, folder: Path) -> Iterator[Replica]:
    """The scheduler as the chart starts it, with the account and the rights of the chart."""
    deployed = api.get(f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/fourleaf-scheduler")
    spec = deployed["spec"]["template"]["spec"]
    verb, *options = spec["containers"][0]["args"]
    assert verb == "run"
    own = [one for one in options if not one.startswith(("--listen", "--audit"))]
    path = account(plane, (SYSTEM, spec["serviceAccountName"]), folder)
    with Replica(plane, "admin", folder, *own, kubeconfig=path) as replica:
        eventually(lambda: replica.leads, "it leads")
        yield replica


def submit(api: Api, space: str, gang: list[str]) -> None:
    """Make the pods of a gang, each of a whole node."""
    name, _, _ = gang[0].rpartition("-")
    for one in gang:
        body = pod(one, "8")
        body["metadata"]["annotations"] = {
            "topology.scheduler/gang": name,
            "topology.scheduler/gang-size": str(len(gang)),
        }
        api.create(f"/api/v1/namespaces/{space}/pods", body)


def work(api: Api) -> str:
    """A namespace with a gang of eight nodes that runs, and a claim."""
    space = api.new_namespace()
    submit(api, space, GANG)
    comes_to_rest(api, space, GANG)
    api.create(claims(space), claim("kept", {"devices": {"count": 2}}))
    return space


def comes_to_rest(api: Api, space: str, gang: list[str]) -> None:
    """A gang runs as a whole, and what its commit wrote is put away."""
    eventually(lambda: len(standing(api, space)) == len(gang), f"{gang[0]}: all are bound")
    eventually(lambda: not breaches(api, [gang], SYSTEM), f"{gang[0]}: records in order", TIDY)


def held(api: Api, space: str) -> dict[str, tuple[str, str, str]]:
    """Name of a pod -> its UID, node and devices."""
    return {
        one["metadata"]["name"]: (
            one["metadata"]["uid"],
            one["spec"].get("nodeName", ""),
            one["metadata"]["annotations"].get(DEVICES, ""),
        )
        for one in api.get(f"/api/v1/namespaces/{space}/pods")["items"]
    }


def standing(api: Api, space: str) -> dict[str, tuple[str, str, str]]:
    """The same of those that are bound."""
    return {name: place for name, place in held(api, space).items() if place[1]}


@contextmanager
def doomed(plane: Plane, folder: Path, name: str, at: int) -> Iterator[Process]:
    """A leader with the account of the chart, which will not survive write `at` of some commit."""
    kubeconfig = account(plane, ACCOUNT, folder)
    command = [sys.executable, "-m", "tests.e2e.dying", str(kubeconfig), "later-after", str(at)]
    one = Process(name, [*command, "--namespace", SYSTEM], folder / f"{name}.log")
    one.start()
    try:
        eventually(lambda: "took_over" in one.log.read_text(), f"{name} leads")
        yield one
    finally:
        one.kill()


def dies_in_a_commit(api: Api, victim: Process, gang: list[str]) -> str:
    """A gang arrives, and the leader is killed in its commit; the gang's namespace."""
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGUSR1)
    eventually(lambda: "armed" in victim.log.read_text(), f"{victim.name} is doomed")
    space = api.new_namespace()
    submit(api, space, gang)
    eventually(lambda: not victim.running, f"{victim.name} dies")
    return space
