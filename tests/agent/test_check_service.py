"""The check service: what it logs, and what it answers."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from fourleaf.agent import check_service
from fourleaf.agent.check_service import Beat, Seen, line_of, metrics_of, seen_in
from tests.controlplane.processes import free_ports
from tests.controlplane.waiting import eventually


def test_a_line_says_node_and_devices() -> None:
    """As JSON, with the variable as it stands."""
    said = {"NODE_NAME": "n1", "POD_NAME": "check-0", "CUDA_VISIBLE_DEVICES": "0,1"}
    assert json.loads(line_of(seen_in(said), 0.0)) == {
        "timestamp": "1970-01-01T00:00:00.000+00:00",
        "level": "info",
        "event": "devices as granted",
        "node": "n1",
        "pod": "check-0",
        "CUDA_VISIBLE_DEVICES": "0,1",
    }


@pytest.mark.parametrize(
    ("visible", "complaint"),
    [
        (None, "CUDA_VISIBLE_DEVICES is not set"),
        ("", "CUDA_VISIBLE_DEVICES is empty, so CUDA shows no device"),
        ("1,1", "CUDA_VISIBLE_DEVICES names a device twice"),
        ("3", ""),
    ],
)
def test_what_is_wrong_is_a_warning(visible: str | None, complaint: str) -> None:
    """A pod that sees nothing, or everything, says so."""
    seen = Seen("n1", "p", visible)
    assert seen.complaint == complaint
    assert json.loads(line_of(seen, 0.0))["level"] == ("warning" if complaint else "info")


@pytest.mark.parametrize(
    ("pod", "node", "visible", "granted", "complaint"),
    [
        ("check-0", "n0", "0,1", "0,1", ""),
        ("check-0", "n0", "1, 0", "", ""),
        ("check-0", "n1", "2", "2", "it stands on n1, and its map names n0"),
        ("check-0", "n0", "7", "", "CUDA_VISIBLE_DEVICES is 7, and its map names 0,1"),
        ("check-0", "n0", "7", "0,1", "CUDA_VISIBLE_DEVICES is 7, but 0,1 was granted"),
        ("check-x7k2p", "n1", "2", "", ""),
        ("check-x7k2p", "n9", "2", "", "it stands on n9, and its map names n0, n1"),
        ("check-9", "n1", "3", "", "CUDA_VISIBLE_DEVICES is 3, and its map names 2"),
    ],
)
def test_place_and_devices_are_held_against_map_and_grant(
    pod: str, node: str, visible: str, granted: str, complaint: str
) -> None:
    """A pod with an index has that line of the map, others have any."""
    environment = {
        "NODE_NAME": node,
        "POD_NAME": pod,
        "CUDA_VISIBLE_DEVICES": visible,
        "DEVICE_MAP": "0=n0:0,1\n1 = n1 : 2\n",
        "GRANTED_DEVICES": granted,
    }
    seen = seen_in(environment)
    assert seen.complaint == complaint
    assert f'ok{{node="{node}",pod="{pod}"}} {int(not complaint)}' in metrics_of(seen, 1)


def test_it_is_healthy_while_lines_come() -> None:
    """Not before the first, and not after three intervals without one."""
    beat = Beat(10.0)
    assert not beat.healthy(0.0)
    beat.mark(100.0)
    assert beat.healthy(130.0)
    assert not beat.healthy(131.0)


def test_metrics_escape_what_stands_in_labels() -> None:
    """Two devices; a quote in the name of the node ends no label."""
    text = metrics_of(Seen('n"1', "p", "0,1"), 7)
    assert 'gpu_scheduler_check_devices{node="n\\"1",pod="p"} 2\n' in text
    assert 'gpu_scheduler_check_lines_total{node="n\\"1",pod="p"} 7\n' in text
    assert 'cuda_visible_devices="0,1"} 1\n' in text


def test_it_needs_the_standard_library_alone() -> None:
    """Its image holds this one file."""
    tree = ast.parse(Path(check_service.__file__).read_text())
    named = [
        name
        for node in ast.walk(tree)
        for name in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert {name.partition(".")[0] for name in named} <= sys.stdlib_module_names


def test_the_program_runs_alone_and_ends_when_told(tmp_path: Path) -> None:
    """One line and one answer after another; SIGTERM ends it with 0."""
    (port,) = free_ports(1)
    said = {
        "NODE_NAME": "n1",
        "CUDA_VISIBLE_DEVICES": "2",
        "CHECK_PORT": str(port),
        "CHECK_INTERVAL": "0.1",
        "PATH": os.environ["PATH"],
    }
    log = tmp_path / "check.log"
    with log.open("w") as out:
        # -I: neither this folder nor installed packages are at hand.
        command = [sys.executable, "-I", "-S", check_service.__file__]
        process = subprocess.Popen(command, env=said, stdout=out)
        try:
            eventually(lambda: _get(port, "/healthz") == (200, "ok\n"), "it is healthy")
            eventually(lambda: len(log.read_text().splitlines()) >= 3, "three lines")
            assert "gpu_scheduler_check_ok" in _get(port, "/metrics")[1]
            assert _get(port, "/other")[0] == 404
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
        finally:
            process.kill()
            process.wait()
    assert {json.loads(line)["CUDA_VISIBLE_DEVICES"] for line in log.read_text().splitlines()} == {
        "2"
    }


def _get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""
