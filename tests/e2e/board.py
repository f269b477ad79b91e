"""The dashboard as a process, before a real API server."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from tests.controlplane.processes import Process, free_ports

TOKEN = "a-token-for-tests-0123456789"  # noqa: S105 - of nothing that lasts


class Board(Process):
    """One `fourleaf dashboard` that reads `kubeconfig`.

    It asks for `TOKEN`, unless `access` has other options for who may look.
    """

    def __init__(
        self, kubeconfig: Path, folder: Path, *more: str, access: Sequence[str] | None = None
    ) -> None:
        self.port = free_ports(1)[0]
        token = folder / "token"
        token.write_text(TOKEN)
        asked = ("--token-file", str(token)) if access is None else access
        main = "from fourleaf.cli.main import main; main()"
        command = [sys.executable, "-c", main, "dashboard", "--kubeconfig", str(kubeconfig)]
        command += ["--listen", f"127.0.0.1:{self.port}", *asked, *more]
        # As the chart has it: the account of the dashboard may not look for the scheduler.
        command += ["--scheduler-namespace", "kube-system"]
        super().__init__("fourleaf dashboard", command, folder / f"dashboard-{self.port}.log")

    def __enter__(self) -> Self:
        self.start()
        self.wait_ready(lambda: self.status("/readyz") == 200, 90.0)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def status(self, path: str, token: str = TOKEN) -> int:
        """The status of its answer, 0 while there is none."""
        try:
            with self._open(path, token) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except OSError:
            return 0

    def api(self, path: str, body: Any = None) -> Any:
        """What its API answers to a GET, or to a POST where there is a `body`."""
        with self._open(f"/api/v1{path}", TOKEN, body) as answer:
            return json.loads(answer.read())

    def _open(self, path: str, token: str, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)  # noqa: S310
        return urllib.request.urlopen(request, timeout=60)  # noqa: S310
