"""`fourleaf dashboard` before it serves: what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]
EXAMPLES = str(Path(__file__).parents[2] / "examples")


@pytest.mark.parametrize("host", ["0.0.0.0:8090", "[::]:8090", "192.0.2.1:80", "board.example:80"])
def test_others_are_not_served_without_a_check(run: Run, host: str) -> None:
    """Neither on all addresses nor on one that others reach."""
    result = run("dashboard", "--snapshot", EXAMPLES, "--listen", host)
    assert result.exit_code == 2
    assert "--token-file or --auth-header" in " ".join(result.output.replace("│", "").split())


def test_a_token_has_to_be_long(run: Run, tmp_path: Path) -> None:
    """One that can be guessed is refused at once, with advice."""
    file = tmp_path / "token"
    file.write_text("hunter2\n")
    result = run("dashboard", "--snapshot", EXAMPLES, "--token-file", str(file))
    assert result.exit_code == 2
    assert "openssl rand" in " ".join(result.output.replace("│", "").split())


@pytest.mark.parametrize(
    "words",
    [
        ("--token-file", __file__, "--auth-header", "X-Forwarded-User"),
        ("--trusted-proxy", "10.0.0.0/8"),
        ("--auth-header", "X-Forwarded-User", "--trusted-proxy", "10.0.0.1/8"),
        ("--listen", "8090"),
        ("--scheduler-namespace", "kube-system"),
        ("--token-file", "/nowhere/token"),
    ],
)
def test_options_that_do_not_fit(run: Run, words: tuple[str, ...]) -> None:
    """Refused by name."""
    result = run("dashboard", "--snapshot", EXAMPLES, *words)
    assert result.exit_code == 2
    assert any(word in result.output for word in words if word.startswith("--"))


def test_a_file_without_nodes(run: Run, tmp_path: Path) -> None:
    """There is nothing to show, and it is said what to give."""
    file = tmp_path / "job.yaml"
    file.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")
    result = run("dashboard", "--snapshot", str(file))
    assert result.exit_code == 2
    assert "holds no node" in result.stderr
    assert "fourleaf snapshot" in result.stderr


def test_it_serves_a_snapshot_until_it_is_told_to_stop() -> None:
    """The URL is printed, pages come, SIGTERM ends it with 0 although a page is open."""
    command = [sys.executable, "-c", "from fourleaf.cli.main import main; main()", "dashboard"]
    command += ["--snapshot", EXAMPLES, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            with urllib.request.urlopen(f"{url}/fabric", timeout=30) as answer:  # noqa: S310
                assert b"gpu-00" in answer.read()
            with urllib.request.urlopen(f"{url}/api/v1/events", timeout=30) as news:  # noqa: S310
                assert news.readline() == b"event: hello\n"
                os.kill(process.pid, signal.SIGTERM)
                assert process.wait(30) == 0
        finally:
            process.kill()
