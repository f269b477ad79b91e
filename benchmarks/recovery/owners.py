"""Who makes pods in the place of those that are lost: an operator, or a controller of Kubernetes.

All gangs of a run have the same kind of owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from tests.controlplane.api import Api
from tests.controlplane.plane import ControlPlane
from tests.e2e.owner import Owner, Team, pod_spec

BACKOFF_LIMIT = 100
"""As the guides set it for each index: no index reaches it."""


class GangOwner(Protocol):
    """Makes the gangs of teams, and makes up for their members."""

    def begin(self, api: Api, teams: list[Team], /) -> None:
        """Make the gang of each team."""


class _Operator:
    """Another pod of the same index as soon as one is to end."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    def begin(self, _: Api, teams: list[Team], /) -> None:
        """Have a thread make and watch them."""
        self._owner.teams += teams


class _Controller:
    """A controller of kube-controller-manager."""

    def __init__(self, path: str, body: Callable[[Team], dict[str, Any]]) -> None:
        self._path = path
        self._body = body

    def begin(self, api: Api, teams: list[Team], /) -> None:
        """Create what the controller makes pods for."""
        for team in teams:
            api.create(self._path.format(team.name), self._body(team))


@contextmanager
def _operator(plane: ControlPlane) -> Iterator[GangOwner]:
    with Owner(plane) as owner:
        yield _Operator(owner)


@contextmanager
def _job(_: ControlPlane) -> Iterator[GangOwner]:
    yield _Controller("/apis/batch/v1/namespaces/{}/jobs", _job_body)


@contextmanager
def _stateful_set(_: ControlPlane) -> Iterator[GangOwner]:
    yield _Controller("/apis/apps/v1/namespaces/{}/statefulsets", _stateful_set_body)


def _job_body(team: Team) -> dict[str, Any]:
    template = {"metadata": {"annotations": _annotations()}, "spec": pod_spec()}
    spec = {
        "parallelism": team.size,
        "completions": team.size,
        "completionMode": "Indexed",
        "backoffLimitPerIndex": BACKOFF_LIMIT,
        "template": template,
    }
    return {"metadata": {"name": "gang"}, "spec": spec}


def _stateful_set_body(team: Team) -> dict[str, Any]:
    labels = {"app": "gang"}
    gang = {"topology.scheduler/gang": "gang", "topology.scheduler/gang-size": str(team.size)}
    template = {
        "metadata": {"labels": labels, "annotations": {**_annotations(), **gang}},
        "spec": {**pod_spec(), "restartPolicy": "Always"},
    }
    spec = {
        "replicas": team.size,
        "serviceName": "gang",
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": labels},
        "template": template,
    }
    return {"metadata": {"name": "gang"}, "spec": spec}


def _annotations() -> dict[str, str]:
    return {"topology.scheduler/repair-policy": "move"}


OWNERS: Mapping[str, Callable[[ControlPlane], AbstractContextManager[GangOwner]]] = {
    "operator": _operator,
    "Job": _job,
    "StatefulSet": _stateful_set,
}
"""By name; each is entered with the control plane."""
