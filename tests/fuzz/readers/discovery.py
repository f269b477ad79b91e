"""What agents are told of the fabric: neighbours on the wire, files of the host, a cloud."""

from __future__ import annotations

from collections.abc import Callable

from fourleaf.agent.discovery.clouds import aks, eks, gke, oci
from fourleaf.agent.discovery.ib_fabric import place_in_dump
from fourleaf.agent.discovery.ibstat import read_ibstat
from fourleaf.agent.discovery.lldp import read_lldp
from fourleaf.agent.discovery.sighting import Sighting, SourceError
from tests.agent.discovery.made import Metadata, sample
from tests.fuzz.law import Reader
from tests.model.topology_import.made import rails


def _told(read: Callable[[str, bytes], Sighting]) -> Callable[[bytes], tuple[str, ...]]:
    def doubts(data: bytes) -> tuple[str, ...]:
        return tuple(said for _, said in read("file", data).doubts)

    return doubts


def _oci(_: str, data: bytes) -> Sighting:
    return oci.OciSource(Metadata({oci.PATH: data})).read()


def _aks(_: str, data: bytes) -> Sighting:
    return aks.AksSource(Metadata({aks.PATH: data})).read()


def _gke(_: str, data: bytes) -> Sighting:
    return gke.GkeSource(Metadata({gke.TOPOLOGY: data})).read()


def _old_gke(_: str, data: bytes) -> Sighting:
    return gke.GkeSource(Metadata({gke.HOST: data})).read()


def _eks(name: str, data: bytes) -> Sighting:
    door = Metadata({eks.SESSION: b"AQAA==", eks.INSTANCE: b"i-2222222222example"})
    return eks.EksInstance(door).place(name, data)


def _instance(_: str, data: bytes) -> Sighting:
    door = Metadata({eks.SESSION: data, eks.INSTANCE: data})
    return eks.EksInstance(door).place("topology.json", sample("eks-instance-topology.json"))


_NEIGHBOURS = tuple(map(sample, ("lldpctl.json", "lldpctl.json0")))

READERS = (
    Reader("LLDP", _told(read_lldp), _NEIGHBOURS, (SourceError,)),
    Reader("ibstat", _told(read_ibstat), (sample("ibstat.txt"),), (SourceError,), json=False),
    Reader(
        "dump of a fabric",
        _told(place_in_dump(lambda: ["gpu-1-1"])),
        (rails(2, 2, 2, 1).text().encode(),),
        (SourceError,),
        json=False,
    ),
    Reader("metadata of a cloud", _told(_oci), (sample("oci-host.json"),), (SourceError,)),
    Reader("metadata of AKS", _told(_aks), (sample("aks-instance.json"),), (SourceError,)),
    Reader(
        "metadata of GKE",
        _told(_gke),
        (sample("gke-physical-host-topology.json"),),
        (SourceError,),
    ),
    Reader("old metadata of GKE", _told(_old_gke), (b"/c/r/h\n",), (SourceError,), json=False),
    Reader("EKS", _told(_eks), (sample("eks-instance-topology.json"),), (SourceError,)),
    Reader(
        "instance of EKS", _told(_instance), (b"i-2222222222example",), (SourceError,), json=False
    ),
)
