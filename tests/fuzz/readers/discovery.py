"""What agents are told of the fabric: neighbours on the wire, files of the host, a cloud."""

from __future__ import annotations

from collections.abc import Callable

from fourleaf.agent.discovery.clouds import oci
from fourleaf.agent.discovery.ibstat import read_ibstat
from fourleaf.agent.discovery.lldp import read_lldp
from fourleaf.agent.discovery.sighting import Sighting, SourceError
from tests.agent.discovery.made import Metadata, sample
from tests.fuzz.law import Reader


def _told(read: Callable[[str, bytes], Sighting]) -> Callable[[bytes], tuple[str, ...]]:
    def doubts(data: bytes) -> tuple[str, ...]:
        return tuple(said for _, said in read("file", data).doubts)

    return doubts


def _cloud(_: str, data: bytes) -> Sighting:
    return oci.OciSource(Metadata({oci.PATH: data})).read()


_NEIGHBOURS = tuple(map(sample, ("lldpctl.json", "lldpctl.json0")))

READERS = (
    Reader("LLDP", _told(read_lldp), _NEIGHBOURS, (SourceError,)),
    Reader("ibstat", _told(read_ibstat), (sample("ibstat.txt"),), (SourceError,), json=False),
    Reader("metadata of a cloud", _told(_cloud), (sample("oci-host.json"),), (SourceError,)),
)
