"""The CRDs on disk are those of the models, and mean the same to a schema's reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from fourleaf.model.crds.claim import DevicePolicy, GpuClaim, Mode
from fourleaf.model.crds.definitions import definitions, rendered

CRDS = Path(__file__).parents[3] / "deploy" / "crds"


def test_the_files_are_what_the_models_give() -> None:
    """Nobody has edited a generated file, and nobody has forgotten to generate it anew."""
    assert {one.name: one.read_text("utf-8") for one in CRDS.iterdir()} == rendered()


def test_schemas_are_structural() -> None:
    """No reference, union or title is left, and every part has a type."""

    def look(part: dict[str, object], path: str) -> None:
        assert not {"$ref", "anyOf", "allOf", "title", "$defs"} & part.keys(), path
        assert "type" in part, path
        properties = part.get("properties", {})
        assert isinstance(properties, dict)
        for name, inner in properties.items():
            look(inner, f"{path}.{name}")
        for key in ("items", "additionalProperties"):
            inner = part.get(key)
            if isinstance(inner, dict):
                look(inner, f"{path}.{key}")

    for one in definitions():
        for version in one["spec"]["versions"]:
            look(version["schema"]["openAPIV3Schema"], one["metadata"]["name"])


def test_the_models_read_the_examples_of_the_field() -> None:
    """A claim for four devices in a row with a wish for links, and one for a single device."""
    claim = GpuClaim.model_validate(
        {
            "apiVersion": "gpu.scheduling/v1",
            "kind": "GpuClaim",
            "spec": {
                "devices": {"count": 4, "policy": "contiguous", "exclusivity": "Exclusive"},
                "topology": {"mode": "Preferred", "minBandwidthGBps": 600},
            },
        }
    )
    assert claim.spec.devices.policy is DevicePolicy.CONTIGUOUS
    assert claim.spec.topology is not None
    assert claim.spec.topology.mode is Mode.PREFERRED
    assert claim.spec.topology.min_bandwidth_gbps == 600


@pytest.mark.parametrize("count", [0, -1, 2**31, 1.5, "", "eight", None, True])
def test_a_count_is_a_number_of_devices(count: object) -> None:
    """Nothing but a whole number from 1 up to what a node can have is a count."""
    with pytest.raises(ValidationError):
        GpuClaim.model_validate({"spec": {"devices": {"count": count}}}, strict=True)


@pytest.mark.parametrize("memory", ["9" * 32, "9" * 30 + "Ti"])
def test_more_memory_than_there_can_be_is_no_demand(memory: str) -> None:
    """It matches the pattern, and is still no amount: a claim that says so is invalid."""
    spec = {"devices": {"count": 1}, "selector": {"minMemory": memory}}
    with pytest.raises(ValidationError, match="too large"):
        GpuClaim.model_validate({"spec": spec})
