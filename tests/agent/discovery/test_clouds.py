"""What clouds tell of a machine: recorded answers, absurd ones, and the door to them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fourleaf.agent.discovery.clouds import aks, eks, gke, oci
from fourleaf.agent.discovery.clouds.metadata import LinkLocalMetadata, MetadataDoor
from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.model.crds.discovered_topology import FabricPlace
from tests.agent.discovery.made import Metadata, sample, served

OCI = Metadata({oci.PATH: sample("oci-host.json")}, "Authorization")
AKS = Metadata({aks.PATH: sample("aks-instance.json")}, "Metadata")
GKE = Metadata({gke.TOPOLOGY: sample("gke-physical-host-topology.json")}, "Metadata-Flavor")
OLD_GKE = Metadata({gke.HOST: b"/us-east4-c1/rack-7/host-3\n"}, "Metadata-Flavor")


def on_eks(data: bytes, instance: bytes = b"i-2222222222example") -> Sighting:
    """The place of `instance` by what `describe-instance-topology` printed."""
    door = Metadata({eks.SESSION: b"AQAAAtoken==", eks.INSTANCE: instance})
    found = eks.EksInstance(door).place("topology.json", data)
    assert door.asked == [f"PUT {eks.SESSION}", f"GET {eks.INSTANCE}"]
    return found


@pytest.mark.parametrize(
    ("read", "place"),
    [
        (oci.OciSource(OCI).read, ("oci", "anuwcljrlocal", "anuwcljrnet", "anuwcljrisland")),
        (aks.AksSource(AKS).read, ("aks", "aks-gpu-25338008-vmss-f67c14ab", "westeurope-2", "")),
        (
            gke.GkeSource(GKE).read,
            ("gke", "c1fa2b6d77e0a9b3", "8dc58a3c2b1e4f7d", "us-east4-cluster-jvkb"),
        ),
        (gke.GkeSource(OLD_GKE).read, ("gke", "rack-7", "us-east4-c1", "")),
        (
            lambda: on_eks(sample("eks-instance-topology.json")),
            ("eks", "nn-4444444444example", "nn-2222222222example", "nn-1111111111example"),
        ),
    ],
)
def test_recorded_answers(read: Callable[[], Sighting], place: tuple[str, ...]) -> None:
    """Each names its leaf, spine and core."""
    source, leaf, spine, core = place
    assert read().place == FabricPlace.model_validate(
        {"source": source, "leaf": leaf, "spine": spine, "core": core}
    )


def test_a_rack_where_there_is_no_rdma() -> None:
    """Shapes of Oracle without RDMA name rack, network block and building."""
    data = sample("oci-host.json").replace(b"customer", b"former")
    found = oci.OciSource(Metadata({oci.PATH: data})).read().place
    assert found == FabricPlace(
        source="oci", leaf="3fca11", spine="0b7f21d4", core="building:af4e9e0d1c"
    )


def test_machines_that_stand_nowhere() -> None:
    """No such path, no scale set, no block: nothing is known, and nothing is wrong."""
    nothing = Metadata({})
    for source in (oci.OciSource(nothing), aks.AksSource(nothing), gke.GkeSource(nothing)):
        assert source.read().empty
    assert aks.AksSource(Metadata({aks.PATH: b'{"compute": {"vmScaleSetName": ""}}'})).read().empty
    assert gke.GkeSource(Metadata({gke.TOPOLOGY: b"{}"})).read().empty


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (
            lambda: oci.OciSource(Metadata({oci.PATH: b"<html>"})).read(),
            "/opc/v2/host/: is not JSON",
        ),
        (
            lambda: oci.OciSource(Metadata({oci.PATH: b'{"rackId": ["a"]}'})).read(),
            "/opc/v2/host/: rackId: ",
        ),
        (lambda: aks.AksSource(Metadata({aks.PATH: b'{"compute": 7}'})).read(), "compute: 7 is no"),
        (
            lambda: gke.GkeSource(Metadata({gke.TOPOLOGY: b'{"subblock": "a b"}'})).read(),
            "subblock: ",
        ),
        (lambda: gke.GkeSource(Metadata({gke.HOST: b"/a/b"})).read(), "has not three parts"),
        (lambda: on_eks(b'{"Instances": []}'), "has no instance i-2222222222example"),
        (lambda: on_eks(b'{"Instances": []}', b"<script>"), "instance-id: "),
        (
            lambda: on_eks(
                b'{"Instances": [{"InstanceId": "i-2222222222example", "NetworkNodes": []}]}'
            ),
            r"Instances\[0\].NetworkNodes: is no list",
        ),
    ],
)
def test_absurd_answers(read: Callable[[], Sighting], what: str) -> None:
    """Refused with the path, the field and the value."""
    with pytest.raises(SourceError, match=what):
        read()


def test_the_door() -> None:
    """An answer, none (404), and answers that are refused: moved, too large, no server."""
    large = b"x" * (2**16 + 1)
    answers = {"/ok": (200, b"yes"), "/moved": (302, b""), "/large": (200, large)}
    twin: MetadataDoor = Metadata({"/ok": b"yes"})
    with served(answers) as port:
        door: MetadataDoor = LinkLocalMetadata("127.0.0.1", port)
        for one in (door, twin):
            assert (one.ask("/ok", {}), one.ask("/none", {})) == (b"yes", None)
        with pytest.raises(SourceError, match="/moved: answers with status 302"):
            door.ask("/moved", {})
        with pytest.raises(SourceError, match="/large: answers with more than 65536 bytes"):
            door.ask("/large", {})
    with pytest.raises(SourceError, match="/ok: does not answer: ConnectionRefusedError"):
        door.ask("/ok", {})
