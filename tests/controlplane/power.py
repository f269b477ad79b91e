"""Nodes whose power can be cut: kwok leaves them alone, and nobody answers at their doors."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable
from typing import Any

from tests.controlplane.api import Api

POWERED = "fourleaf.test/powered"
"""The label of nodes that have power: kwok plays the kubelets of those alone."""
MANAGES = f"--manage-nodes-with-label-selector={POWERED}=true"
ACCEPTS_FOR = 0.2
"""Seconds after which a door looks whether it is still to open."""


class Door:
    """The port of a kubelet. It accepts and hangs up; once `dead`, it drops what comes."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(0)
        self._socket.settimeout(ACCEPTS_FOR)
        self.port: int = self._socket.getsockname()[1]
        self._alive = True
        self._fill: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def die(self) -> None:
        """Answer nobody any more: a full queue drops what comes, as a dead host does."""
        self._alive = False
        self._thread.join()
        for _ in range(3):
            one = socket.socket()
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(("127.0.0.1", self.port))
            self._fill.append(one)

    def live(self) -> None:
        """Answer again."""
        self._hang_up()
        self._alive = True
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give everything back."""
        self._alive = False
        self._thread.join()
        self._hang_up()
        self._socket.close()

    def _hang_up(self) -> None:
        for one in self._fill:
            one.close()
        self._fill.clear()

    def _serve(self) -> None:
        while self._alive:
            with contextlib.suppress(TimeoutError, ConnectionError):
                self._socket.accept()[0].close()


class Power:
    """The power of some nodes of a fleet. A context manager.

    `wire` before the nodes are created and kwok is started with `MANAGES`; every node that may
    be cut needs a door of its own, all others share one.
    """

    def __init__(self, cut: Iterable[str]) -> None:
        self._common = Door()
        self._doors = {name: Door() for name in cut}

    def __enter__(self) -> Power:
        return self

    def __exit__(self, *_: object) -> None:
        for door in (self._common, *self._doors.values()):
            door.close()

    def wire(self, nodes: Iterable[dict[str, Any]]) -> None:
        """Give every Node object its label and the address of its door."""
        for node in nodes:
            door = self._doors.get(node["metadata"]["name"], self._common)
            node["metadata"]["labels"][POWERED] = "true"
            node["status"]["addresses"] = [{"type": "InternalIP", "address": "127.0.0.1"}]
            node["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": door.port}}

    def cut(self, api: Api, name: str) -> None:
        """Take the power of a node."""
        self._doors[name].die()
        api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {POWERED: None}}})

    def silence(self, api: Api, name: str) -> None:
        """Stop only the kubelet of a node: its host still answers."""
        api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {POWERED: None}}})

    def restore(self, api: Api, name: str) -> None:
        """Give it power again."""
        self._doors[name].live()
        api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {POWERED: "true"}}})
