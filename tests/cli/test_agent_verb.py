"""`fourleaf agent` without a cluster: what it prints, and which options do not go together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result

Run = Callable[..., Result]
Write = Callable[[str, str], Path]

INVENTORY = """\
driverVersion: "580.65"
gpus:
  - {index: 0, uuid: GPU-a, product: H100}
  - {index: 1, uuid: GPU-b, product: H100}
links:
  - {a: 1, b: 0, bandwidthGBps: 450}
"""


def test_what_is_printed_can_be_read(run: Run, write: Write) -> None:
    """An inventory is printed as the object that would be published, and read from that again."""
    file = write("devices.yaml", INVENTORY)
    first = run("agent", "--once", "-o", "yaml", "--from-file", file, "--node-name", "n1")
    assert first.exit_code == 0, first.output
    body = yaml.safe_load(first.stdout)
    assert (body["kind"], body["metadata"]) == ("GpuNodeStatus", {"name": "n1"})
    assert [gpu["uuid"] for gpu in body["status"]["gpus"]] == ["GPU-a", "GPU-b"]
    assert body["status"]["links"] == [{"a": 0, "b": 1, "kind": "NVLink", "bandwidthGBps": 450.0}]
    again = run("agent", "--once", "-o", "json", "--from-file", write("again.yaml", first.stdout))
    assert again.exit_code == 0, again.output
    same = json.loads(again.stdout)["status"]
    for part in ("gpus", "links", "processes", "driverVersion", "bootID"):
        assert same[part] == body["status"][part]


def test_an_inventory_that_is_wrong(run: Run, write: Write) -> None:
    """It is printed with the reason, and ends with 1."""
    file = write("devices.yaml", INVENTORY.replace("GPU-b", "GPU-a"))
    result = run("agent", "--once", "-o", "json", "--from-file", file)
    assert result.exit_code == 1
    (ready, _) = json.loads(result.stdout)["status"]["conditions"]
    assert (ready["status"], ready["reason"]) == ("False", "DuplicateUUID")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "yaml"], "add --once"),
        (["--once", "--source", "file"], "is needed for --source file"),
        (["--source", "nvml", "--from-file", "x"], "is not read with --source nvml"),
        (["--from-file", "x"], "names no node"),
        (["--node-name", "n1", "--from-file", "x", "--listen", "here"], "is not HOST:PORT"),
        (["--node-name", "n1", "--interval", "0"], "--interval"),
        (["--source", "guess"], "--source"),
    ],
    ids=str,
)
def test_options_that_make_no_sense(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    """Each is refused with 2 and a sentence that names it."""
    monkeypatch.delenv("NODE_NAME", raising=False)
    result = run("agent", *words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_cluster_that_cannot_be_reached(run: Run, write: Write) -> None:
    """Without credentials nothing is begun."""
    file = write("devices.yaml", INVENTORY)
    missing = file.with_name("no.kubeconfig")
    words = ["--node-name", "n1", "--from-file", file, "--kubeconfig", missing]
    result = run("agent", *words)
    assert result.exit_code == 2
    assert "does not exist" in result.stderr
