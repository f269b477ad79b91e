"""`fourleaf webhook` before it starts: what it takes, and what it refuses to take."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


@pytest.mark.parametrize("arguments", [(), ("--self-signed", "--cert-dir", ".")])
def test_one_source_of_the_certificate(run: Run, arguments: tuple[str, ...]) -> None:
    """Neither none nor two."""
    result = run("webhook", *arguments)
    assert result.exit_code == 2
    assert "--cert-dir or --self-signed" in result.output


@pytest.mark.parametrize(
    ("option", "value"),
    [("--listen", "8443"), ("--metrics-listen", "127.0.0.1:x"), ("--drain-seconds", "-1")],
)
def test_bad_options(run: Run, option: str, value: str) -> None:
    """Refused by name."""
    result = run("webhook", "--self-signed", option, value)
    assert result.exit_code == 2
    assert option in result.output


def test_a_folder_that_is_not_there(run: Run, tmp_path: Path) -> None:
    """The mount is missing."""
    result = run("webhook", "--cert-dir", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert "does not exist" in " ".join(result.output.split())


def test_an_address_that_is_taken(tmp_path: Path) -> None:
    """Said with the option that changes it."""
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(KUBECONFIG)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "-c", "from fourleaf.cli.main import main; main()", "webhook"]
        command += ["--kubeconfig", str(kubeconfig), "--cert-dir", str(tmp_path)]
        command += ["--listen", "127.0.0.1:0", "--metrics-listen", where]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "cannot listen: " in result.stderr
    assert "--metrics-listen HOST:PORT" in result.stderr
