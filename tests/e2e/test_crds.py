"""Our kinds on a real API server: what it takes, refuses and prints, and what it publishes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.model.crds.definitions import definitions
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.waiting import CRDS, eventually, serve
from tests.deploy.schemas import FOREIGN, judged, published, write_schemas
from tests.deploy.shipped import shipped

CLAIMS = "/apis/gpu.scheduling/v1/namespaces/default/gpuclaims"
NODES = "/apis/gpu.scheduling/v1/gpunodestatuses"


@pytest.fixture(scope="module")
def api(module_control_plane: Plane) -> Iterator[Api]:
    """An API server that serves our kinds."""
    with module_control_plane.api() as api:
        serve(api, definitions())
        yield api


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
    found = api.request("GET", CRDS)
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


def test_what_a_claim_asks_for_does_not_change(api: Api) -> None:
    """Pods may have devices by it: fewer of them afterwards would free what they hold."""
    api.request("POST", CLAIMS, claim("kept", {"devices": {"count": 8}}))
    with pytest.raises(ApiError, match="does not change") as refused:
        api.patch(f"{CLAIMS}/kept", {"spec": {"devices": {"count": 1}}})
    assert refused.value.status == 422
    api.patch(f"{CLAIMS}/kept", {"metadata": {"labels": {"own": "1"}}})


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


@pytest.fixture(scope="module")
def schemas(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For kubeconform, of every kind that the server publishes: ours follow after a moment."""
    folder = tmp_path_factory.mktemp("schemas")
    ours = {"gpu.scheduling/v1/GpuClaim", "gpu.scheduling/v1/GpuNodeStatus"}

    def written() -> bool:
        kinds = write_schemas(published(api.get), folder)
        assert not kinds & set(FOREIGN)
        return ours <= kinds

    eventually(written, "our kinds are published")
    return folder


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Title -> YAML documents of all that ships."""
    return shipped()


def test_everything_that_ships_fits_the_published_schemas(
    schemas: Path, texts: dict[str, str], tmp_path: Path
) -> None:
    """What charts and overlays make, and plain manifests; only kinds of others are left out."""
    for title, text in texts.items():
        (tmp_path / f"{title}.yaml").write_text(text)
    found = judged(tmp_path, schemas)
    assert {one.file.removesuffix(".yaml") for one in found} == set(texts)
    assert [one for one in found if one.status not in ("valid", "skipped")] == []
    assert {one.kind for one in found if one.status == "skipped"} == set(FOREIGN)


@pytest.mark.parametrize(
    ("title", "right", "wrong", "said"),
    [
        ("fourleaf-default", "replicas: 2", "replica: 2", "'replica' not allowed"),
        ("fourleaf-default", "replicas: 2", "replicas: two", "got string, want integer"),
        ("overlay-kind", "readOnlyRootFilesystem", "readOnlyRootFileSystem", "not allowed"),
    ],
)
def test_a_mistake_in_what_ships_is_refused(
    schemas: Path,
    texts: dict[str, str],
    tmp_path: Path,
    title: str,
    right: str,
    wrong: str,
    said: str,
) -> None:
    """By the name of the object and of the field, also deep inside."""
    text = texts[title]
    assert right in text
    file = tmp_path / "all.yaml"
    file.write_text(text.replace(right, wrong))
    refused = [one for one in judged(file, schemas) if one.status != "valid"]
    assert "fourleaf-scheduler" in {one.name for one in refused}
    assert all(one.status == "invalid" and said in one.message for one in refused)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"devices": {"count": 2}, "selector": {"minMemory": "80Gi"}}, ""),
        ({"devices": {"count": 2, "polity": "any"}}, "'polity' not allowed"),
        ({"devices": {"count": "many"}}, "want integer"),
        ({}, "missing property 'devices'"),
    ],
    ids=str,
)
def test_a_claim_is_held_to_its_published_schema(
    schemas: Path, tmp_path: Path, spec: Any, said: str
) -> None:
    """The published schema knows our kinds as it knows a Deployment."""
    file = tmp_path / "claim.yaml"
    file.write_text(yaml.safe_dump(claim("c", spec)))
    (one,) = judged(file, schemas)
    assert (one.kind, one.status == "valid") == ("gpu.scheduling/v1/GpuClaim", said == "")
    assert said in one.message
