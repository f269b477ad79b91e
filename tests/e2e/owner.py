"""The owner of gangs: another pod of the same index as soon as one is to end.

Each gang has a namespace of its own, which may use one spine of a `Fleet`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane

INDEX = "apps.kubernetes.io/pod-index"
JOB_INDEX = "batch.kubernetes.io/job-completion-index"
PODS = "/api/v1/pods?labelSelector="
EVERY = 0.3
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class Team:
    """A gang of `size` whole-node pods in a namespace of its own, which may use one spine."""

    name: str
    size: int

    @property
    def pods(self) -> str:
        """The path of its pods."""
        return f"/api/v1/namespaces/{self.name}/pods"


def settle(api: Api, teams: Sequence[Team], spec: str = "") -> None:
    """Make the namespaces of the teams, each of which may use the spine of its number.

    `spec` is more of the config's.
    """
    domains = "\n".join(
        f"    {team.name}: {{domains: [spine-{i}]}}" for i, team in enumerate(teams)
    )
    text = (
        "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\nspec:\n"
        f"  namespaces:\n{domains}\n{spec}"
    )
    config = {"metadata": {"name": "topology-scheduler-config"}, "data": {"config.yaml": text}}
    api.create("/api/v1/namespaces/kube-system/configmaps", config)
    for team in teams:
        api.create("/api/v1/namespaces", {"metadata": {"name": team.name}})


def member(team: Team, index: int, number: int) -> dict[str, Any]:
    """The pod of that index; `number` tells it from those before it."""
    return {
        "metadata": {
            "name": f"gang-{index}-{number}",
            "labels": {INDEX: str(index)},
            "annotations": {
                "topology.scheduler/gang": "gang",
                "topology.scheduler/gang-size": str(team.size),
                "topology.scheduler/repair-policy": "move",
            },
        },
        "spec": pod_spec(),
    }


def pod_spec() -> dict[str, Any]:
    """What a member asks for: a whole node."""
    return {
        "schedulerName": "topology-aware-scheduler",
        "restartPolicy": "Never",
        "containers": [_whole_node("train")],
    }


def taker(node: str) -> dict[str, Any]:
    """A pod of somebody else that takes a whole node."""
    return {
        "metadata": {"name": f"taker-{node}"},
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": 0,
            "containers": [_whole_node("other")],
        },
    }


def _whole_node(image: str) -> dict[str, Any]:
    return container(8) | {"image": image}


@dataclass(slots=True)
class Owner:
    """Makes up for members of its teams, in a thread. A context manager."""

    plane: Plane
    teams: list[Team] = field(default_factory=list)
    _made: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Owner:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with self.plane.api() as api:
            while not self._stop.wait(EVERY):
                try:
                    self._make_up(api)
                except ApiError:
                    continue

    def _make_up(self, api: Api) -> None:
        teams = tuple(self.teams)
        for team, pods in zip(teams, live(api, teams), strict=True):
            for index in sorted(set(range(team.size)) - {_index(pod) for pod in pods}):
                self._made += 1
                api.create(team.pods, member(team, index, self._made))


def live(api: Api, teams: Iterable[Team], index: str = INDEX) -> list[list[dict[str, Any]]]:
    """The members of each team that are not to end, by one request; a label says their `index`."""
    found: dict[str, list[dict[str, Any]]] = {team.name: [] for team in teams}
    for pod in api.get(f"{PODS}{index}")["items"]:
        namespace = pod["metadata"]["namespace"]
        if namespace in found and "deletionTimestamp" not in pod["metadata"]:
            found[namespace].append(pod)
    return list(found.values())


def places_of(pods: Iterable[dict[str, Any]]) -> dict[int, str]:
    """Index -> node of those of the members that stand somewhere."""
    return {_index(pod): node for pod in pods if (node := pod["spec"].get("nodeName"))}


def uids_of(pods: Iterable[dict[str, Any]]) -> set[str]:
    """The UIDs of the members."""
    return {pod["metadata"]["uid"] for pod in pods}


def places(api: Api, team: Team) -> dict[int, str]:
    """Index -> node of the members that run and are not to end."""
    (mine,) = live(api, [team])
    return places_of(mine)


def uids(api: Api, team: Team) -> set[str]:
    """The UIDs of the members that are not to end."""
    (mine,) = live(api, [team])
    return uids_of(mine)


def _index(pod: dict[str, Any]) -> int:
    labels = pod["metadata"]["labels"]
    return int(labels.get(INDEX) or labels[JOB_INDEX])
