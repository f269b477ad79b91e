"""Our kinds on a real API server: what it takes, what it refuses, and what it prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from model.crds.definitions import definitions
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.waiting import eventually

CLAIMS = "/apis/gpu.scheduling/v1/namespaces/default/gpuclaims"
NODES = "/apis/gpu.scheduling/v1/gpunodestatuses"


@pytest.fixture(scope="module")
def api(module_control_plane: Plane) -> Iterator[Api]:
    """An API server that serves our kinds."""
    with module_control_plane.api() as api:
        for one in definitions():
            api.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", one)
        eventually(lambda: _served(api), "our kinds are served")
        yield api


def _served(api: Api) -> bool:
    return bool(api.get(CLAIMS) and api.get(NODES))


def claim(name: str, spec: Any) -> dict[str, Any]:
    """A claim of the default namespace."""
    return {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuClaim",
        "metadata": {"name": name},
        "spec": spec,
    }


def test_the_schemas_hold_without_complaint(api: Api) -> None:
    """The server finds the schemas structural."""
    found = api.request("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    for one in found["items"]:
        conditions = {each["type"]: each["status"] for each in one["status"]["conditions"]}
        assert conditions["Established"] == conditions["NamesAccepted"] == "True"
        assert "NonStructuralSchema" not in conditions


def test_a_claim_gets_its_defaults(api: Api) -> None:
    """Any devices, held alone."""
    made = api.request("POST", CLAIMS, claim("plain", {"devices": {"count": 2}}))
    assert made["spec"]["devices"] == {"count": 2, "policy": "any", "exclusivity": "Exclusive"}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"devices": {"count": 0}}, "spec.devices.count"),
        ({"devices": {"count": -3}}, "spec.devices.count"),
        ({"devices": {"count": 2**31}}, "spec.devices.count"),
        ({"devices": {"count": 1.5}}, "spec.devices.count"),
        ({"devices": {"count": "٣"}}, "spec.devices.count"),
        ({"devices": {"count": ""}}, "spec.devices.count"),
        ({"devices": {}}, "spec.devices.count"),
        ({}, "spec.devices"),
        ({"devices": {"count": 2, "policy": "scattered"}}, "spec.devices.policy"),
        ({"devices": {"count": 2, "exclusivity": "Shared"}}, "spec.devices.exclusivity"),
        ({"devices": {"count": 1}, "topology": {"mode": "Required"}}, "spec.topology"),
        ({"devices": {"count": 2}, "topology": {"mode": "Maybe"}}, "spec.topology.mode"),
        (
            {"devices": {"count": 2}, "topology": {"minBandwidthGBps": 0}},
            "spec.topology.minBandwidthGBps",
        ),
        ({"devices": {"count": 2}, "selector": {"minMemory": "much"}}, "spec.selector.minMemory"),
        ({"devices": {"count": 2}, "selector": {"products": [""]}}, "spec.selector.products"),
    ],
    ids=str,
)
def test_a_claim_that_makes_no_sense_is_refused_by_field(api: Api, spec: Any, field: str) -> None:
    """The server says which field is wrong, and keeps nothing."""
    with pytest.raises(ApiError) as refused:
        api.request("POST", CLAIMS, claim("wrong", spec))
    assert refused.value.status == 422
    assert field in str(refused.value)


def test_columns_show_what_a_claim_is(api: Api) -> None:
    """`kubectl get gclaim` prints devices, policy and how many pods have theirs."""
    api.request("POST", CLAIMS, claim("shown", {"devices": {"count": 4, "policy": "contiguous"}}))
    table = api.request(
        "GET", f"{CLAIMS}/shown", accept="application/json;as=Table;v=v1;g=meta.k8s.io"
    )
    names = [one["name"] for one in table["columnDefinitions"]]
    cells = dict(zip(names, table["rows"][0]["cells"], strict=True))
    assert (cells["Devices"], cells["Policy"], cells["Allocated"]) == (4, "contiguous", None)


def test_a_link_names_the_lower_device_first(api: Api) -> None:
    """A link from a device to itself, or backwards, is refused."""
    node = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": "n1"},
    }
    made = api.request("POST", NODES, node)
    made["status"] = {
        "gpus": [{"index": 0, "uuid": "GPU-0"}, {"index": 1, "uuid": "GPU-1"}],
        "links": [{"a": 1, "b": 1, "bandwidthGBps": 25}],
    }
    with pytest.raises(ApiError, match="lower device first"):
        api.request("PUT", f"{NODES}/n1/status", made)
    made["status"]["links"] = [{"a": 0, "b": 1, "bandwidthGBps": 25}]
    kept = api.request("PUT", f"{NODES}/n1/status", made)
    assert kept["status"]["links"] == [{"a": 0, "b": 1, "kind": "NVLink", "bandwidthGBps": 25}]
