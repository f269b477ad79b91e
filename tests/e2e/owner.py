"""The owner of gangs: another pod of the same index as soon as one is to end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane

INDEX = "apps.kubernetes.io/pod-index"
MEMBERS = f"/api/v1/pods?labelSelector={INDEX}"
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


def member(team: Team, index: int, number: int) -> dict[str, Any]:
    """The pod of that index; `number` tells it from those before it."""
    limits = {"nvidia.com/gpu": "8"}
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
        "spec": {
            "schedulerName": "topology-aware-scheduler",
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "train", "resources": {"limits": limits}}],
        },
    }


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
        present: dict[str, set[int]] = {team.name: set() for team in self.teams}
        for pod in api.get(MEMBERS)["items"]:
            namespace = pod["metadata"]["namespace"]
            if "deletionTimestamp" not in pod["metadata"] and namespace in present:
                present[namespace].add(int(pod["metadata"]["labels"][INDEX]))
        for team in list(self.teams):
            for index in sorted(set(range(team.size)) - present.get(team.name, set())):
                self._made += 1
                api.create(team.pods, member(team, index, self._made))


def places(api: Api, team: Team) -> dict[int, str]:
    """Index -> node of the members that run and are not to end."""
    return {
        int(pod["metadata"]["labels"][INDEX]): pod["spec"]["nodeName"]
        for pod in _members(api, team)
        if pod["spec"].get("nodeName")
    }


def uids(api: Api, team: Team) -> set[str]:
    """The UIDs of the members that are not to end."""
    return {pod["metadata"]["uid"] for pod in _members(api, team)}


def _members(api: Api, team: Team) -> list[dict[str, Any]]:
    items = api.get(f"{team.pods}?labelSelector={INDEX}")["items"]
    return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]
