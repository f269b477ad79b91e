"""A replica behind a proxy of its own."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.controlplane.plane import ControlPlane
from tests.controlplane.processes import ProcessError
from tests.controlplane.roles import write_kubeconfig
from tests.e2e.replica import Replica
from tests.faults.proxy import Proxy

LISTENS = 60.0
"""Seconds that a replica may take to start; an idle machine needs one."""

ATTEMPTS = 3
"""Starts before giving up: somebody else may take a port between finding and using it."""


class Actor:
    """One `fourleaf run` as `role`, and the proxy that is all it sees of the cluster."""

    def __init__(self, plane: ControlPlane, role: str, folder: Path) -> None:
        self.role = role
        self._plane = plane
        self._folder = folder
        self.proxy = Proxy(plane.url, plane.folder / "keys" / "apiserver.crt")
        self.proxy.__enter__()
        self._kubeconfig = write_kubeconfig(
            folder / f"{role}.kubeconfig", {"server": self.proxy.url}, role, plane.token(role)
        )
        self._replicas: list[Replica] = []

    def start(self, *arguments: str, prefix: Sequence[str] = ()) -> None:
        """Start the replica, or a new one in the place of one that has ended; it listens then.

        Raises `ProcessError` where it ends at once.
        """
        for attempt in range(1, ATTEMPTS + 1):
            replica = Replica(
                self._plane,
                self.role,
                self._folder,
                *arguments,
                kubeconfig=self._kubeconfig,
                prefix=prefix,
            )
            replica.start()
            try:
                replica.wait_ready(partial(_listens, replica.port), LISTENS)
            except ProcessError as error:
                if attempt == ATTEMPTS or "address already in use" not in str(error):
                    raise
            else:
                self._replicas.append(replica)
                return

    @property
    def process(self) -> Replica:
        """The replica, which has been started."""
        assert self._replicas, f"{self.role} has not been started"
        return self._replicas[-1]

    @property
    def running(self) -> bool:
        """Whether its process has been started and has not ended."""
        return bool(self._replicas) and self.process.running

    @property
    def leads(self) -> bool:
        """Whether it says that it leads; does not return while it is paused."""
        return self.running and self.process.leads

    @property
    def ready(self) -> bool:
        """Whether it has read all it needs."""
        said = self.process.get("/readyz")
        return bool(said and said["ready"])

    def said(self, event: str) -> list[dict[str, Any]]:
        """Its log lines about `event`, such as `took_over`."""
        return [line for line in self.process.lines() if line.get("msg") == event]

    def said_ever(self, event: str) -> list[dict[str, Any]]:
        """The same of all processes that it has been."""
        return [line for one in self._replicas for line in one.lines() if line.get("msg") == event]

    def pause(self, *_: object) -> None:
        """Freeze it; may be the trigger of a rule."""
        self.process.pause()

    def resume(self, *_: object) -> None:
        """Let it go on."""
        self.process.resume()

    def close(self) -> None:
        """End replica and proxy."""
        for replica in self._replicas:
            replica.kill()
        self.proxy.__exit__()


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
