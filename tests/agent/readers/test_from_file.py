"""Inventories in files: what is read, and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.agent.inventory_consistency import examined
from fourleaf.agent.readers.from_file import FileReader
from fourleaf.agent.readings import Reading

WHOLE = """
format: 1
driverVersion: "580.65"
gpus:
  - {index: 0, uuid: GPU-a, product: H100, memoryMiB: 81559, pciBusID: "0000:1b:00.0", numaNode: 0}
  - {index: 1, uuid: GPU-b, healthy: false, message: XID 79}
links:
  - {a: 0, b: 1, bandwidthGBps: 450}
processes:
  - {gpu: 0, pid: 70, podUID: u-1}
"""


def read(folder: Path, text: str, name: str = "devices.yaml") -> Reading:
    """What a reader makes of a file with `text`."""
    file = folder / name
    file.write_text(text)
    return FileReader(file).read()


def test_a_whole_inventory(tmp_path: Path) -> None:
    """Every part of it is read."""
    found = read(tmp_path, WHOLE)
    assert (found.source, found.driver_version, found.fault) == ("file", "580.65", None)
    assert [(gpu.uuid, gpu.healthy, gpu.numa_node) for gpu in found.gpus] == [
        ("GPU-a", True, 0),
        ("GPU-b", False, None),
    ]
    assert [(link.a, link.b, link.bandwidth_gbps) for link in found.links] == [(0, 1, 450.0)]
    assert [(one.gpu, one.pid, one.pod_uid) for one in found.processes] == [(0, 70, "u-1")]


def test_yaml_json_and_the_manifest_say_the_same(tmp_path: Path) -> None:
    """An inventory as JSON, and within what kubectl prints of the object."""
    status = yaml.safe_load(WHOLE)
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "X",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    manifest = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": "n1"},
        "status": {**status, "nodeUID": "x", "conditions": [condition]},
    }
    expected = read(tmp_path, WHOLE)
    assert read(tmp_path, json.dumps(status), "devices.json") == expected
    assert read(tmp_path, yaml.safe_dump(manifest)) == expected


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    """An edit counts; a file that is gone is a fault, and back again when it is."""
    file = tmp_path / "devices.yaml"
    file.write_text(WHOLE)
    reader = FileReader(file)
    assert len(reader.read().gpus) == 2
    file.write_text("gpus: [{index: 0, uuid: GPU-a}]")
    assert len(reader.read().gpus) == 1
    file.unlink()
    gone = reader.read().fault
    assert gone is not None
    assert "cannot be read: No such file or directory" in gone.message
    file.write_text(WHOLE)
    assert len(reader.read().gpus) == 2


@pytest.mark.parametrize(
    ("text", "reason", "told"),
    [
        ("", "InvalidInventory", "is empty"),
        ("[1, 2]", "InvalidInventory", "is no inventory"),
        ("a: 1\n---\nb: 2\n", "InvalidInventory", "holds 2 documents"),
        ("kind: GpuNodeStatus\n", "InvalidInventory", "is no inventory"),
        ("gpus: [", "InvalidInventory", "is not YAML"),
        ("gpus: [{index: 0}]", "InvalidInventory", "gpus[0].uuid: field required"),
        (
            "gpus: [{index: -1, uuid: a}]",
            "InvalidInventory",
            "gpus[0].index = -1: input should be greater than or equal to 0",
        ),
        (
            "gpus: [{index: 2147483648, uuid: a}]",
            "InvalidInventory",
            "gpus[0].index = 2147483648: input should be less than 1024",
        ),
        (
            "gpus: [{index: '0', uuid: a}]",
            "InvalidInventory",
            'gpus[0].index = "0": input should be a valid integer',
        ),
        (
            "gpus: [{index: 0.5, uuid: a}]",
            "InvalidInventory",
            "gpus[0].index = 0.5: input should be a valid integer",
        ),
        (
            "gpus: [{index: 0, uuid: ''}]",
            "InvalidInventory",
            'gpus[0].uuid = "": string should have at least 1 character',
        ),
        (
            "gpus: [{index: 0, uuid: a, colour: red}]",
            "InvalidInventory",
            "gpus[0].colour: is not known. Leave it out; known are format, source",
        ),
        (
            "links: [{a: 0, b: 1, bandwidthGBps: .nan}]",
            "InvalidInventory",
            "holds a number that is not finite (NaN or infinity)",
        ),
        (
            "links: [{a: 0, b: 1, bandwidthGBps: 0}]",
            "InvalidInventory",
            "links[0].bandwidthGBps = 0: input should be greater than 0",
        ),
        (
            "links: [{a: 0, b: 1, kind: Rope, bandwidthGBps: 1}]",
            "InvalidInventory",
            "links[0].kind = \"Rope\": input should be 'NVLink' or 'XGMI'",
        ),
        (
            "format: 2\nlater: {}\n",
            "UnknownFormat",
            "format = 2: is an inventory of a later format",
        ),
        ("format: 0\n", "InvalidInventory", "format = 0: input should be greater than"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_what_is_refused(tmp_path: Path, text: str, reason: str, told: str) -> None:
    """No device is read, and the fault names file, field and value."""
    found = read(tmp_path, text)
    assert (found.gpus, found.links) == ((), ())
    assert found.fault is not None
    assert found.fault.reason == reason
    assert told in found.fault.message
    assert str(tmp_path / "devices.yaml") in found.fault.message


@pytest.mark.parametrize(
    "text", ['{"gpus": NaN}', '{"gpus": [{"index": 0, "uuid": "a"}', "[" * 9000]
)
def test_json_that_is_refused(tmp_path: Path, text: str) -> None:
    """NaN, an end that is missing, and depth are faults and not crashes."""
    found = read(tmp_path, text, "devices.json")
    assert found.fault is not None
    assert found.fault.reason == "InvalidInventory"


def test_text_that_is_none(tmp_path: Path) -> None:
    """Bytes that are no UTF-8."""
    file = tmp_path / "devices.yaml"
    file.write_bytes(b"gpus: [{index: 0, uuid: \xff\xfe}]")
    fault = FileReader(file).read().fault
    assert fault is not None
    assert "is not UTF-8" in fault.message


def test_many_problems_are_told_in_part(tmp_path: Path) -> None:
    """Three of five, and how many more there are."""
    found = read(tmp_path, yaml.safe_dump({"gpus": [{"index": 0}] * 5}))
    assert found.fault is not None
    assert found.fault.message.count("field required") == 3
    assert "and 2 more" in found.fault.message


def test_a_thousand_devices(tmp_path: Path) -> None:
    """A machine of 1000 devices without links is read and published; of 1025 it is not."""
    listed: list[dict[str, Any]] = [{"index": i, "uuid": f"GPU-{i}"} for i in range(1000)]
    found = read(tmp_path, json.dumps({"gpus": listed}), "devices.json")
    assert len(examined(found).reading.gpus) == 1000
    assert examined(found).faults == ()
    more = [{"index": i % 1000, "uuid": f"GPU-{i}"} for i in range(1025)]
    fault = read(tmp_path, json.dumps({"gpus": more}), "devices.json").fault
    assert fault is not None
    assert "gpus" in fault.message
    assert "at most 1024 items" in fault.message
