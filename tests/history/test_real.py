"""The checker on a real run: what it saw, and that it stands a restart of the apiserver."""

from __future__ import annotations

from pathlib import Path

from tests.controlplane.api import Api
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import Replica, grant
from tests.faults.gangs import Gang
from tests.history.__main__ import main
from tests.history.check import Expectations, check
from tests.history.past import history_of
from tests.history.server import Server
from tests.history.watching import watching

BUSY = 6.0
"""Requests a pod: a binding, its part of a page or of a gang lease, an event, a condition."""


def test_a_real_run_keeps_every_law(own_control_plane: ControlPlane, tmp_path: Path) -> None:
    """Gangs of 8, 2 and 4 with a restart of the apiserver between: 14 bindings in 3 commits.

    The recorded history and the one that is put together from the audit log agree on that.
    """
    plane = own_control_plane
    plane.kwok()
    create_fleet(plane.kubeconfig(), Fleet(16))
    grant(plane, "scheduler-a")
    with (
        watching(plane.kubeconfig(), plane.audit_log) as run,
        plane.api() as api,
        Replica(plane, "scheduler-a", tmp_path) as replica,
    ):
        eventually(lambda: replica.leads, "it leads")
        namespace = api.new_namespace()
        submit(api, Gang(namespace, "eight", 8))
        submit(api, Gang(namespace, "two", 2))
        plane.restart_apiserver()
        submit(api, Gang(namespace, "four", 4))
        eventually(lambda: not breaches(api), "at rest")
        expected = Expectations(14, 3, 14, requests_per_pod=BUSY)
        verdict = run.judge(expected)
        assert (verdict.done.bindings, verdict.done.commits, verdict.done.holding) == (14, 3, 14)
        past = check(history_of(plane.audit_log, Server.of(plane.kubeconfig())), expected)
        assert past.ok, "\n".join(past.lines())
        assert past.done == verdict.done
        given = [str(plane.audit_log), "--kubeconfig", str(plane.kubeconfig())]
        assert main([*given, "--bindings", "14"]) == 0
        assert main([*given, "--bindings", "15"]) == 3
        too_much = run.verdict(Expectations(bindings=15))
        assert [law for law, broken in too_much.breaches.items() if broken] == ["enough work"]


def submit(api: Api, gang: Gang) -> None:
    """Create a gang and wait until all of it is bound."""
    path = f"/api/v1/namespaces/{gang.namespace}/pods"
    for i in range(gang.pods):
        api.create(path, gang.body(i))
    eventually(
        lambda: all(holds(api.get(f"{path}/{name}")) for name in gang.names),
        f"all of {gang.name} is bound",
    )
