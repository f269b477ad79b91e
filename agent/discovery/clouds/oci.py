"""Oracle Cloud: `/opc/v2/host/` tells of the RDMA network, or of the rack at least.

Local blocks stand for leaves, network blocks for spines, and an HPC island for a core.
"""

from __future__ import annotations

from fourleaf.agent.discovery.clouds.fields import domain, mapping_of, part
from fourleaf.agent.discovery.clouds.metadata import MetadataDoor
from fourleaf.agent.discovery.sighting import Sighting
from fourleaf.model.crds.discovered_topology import FabricPlace

PATH = "/opc/v2/host/"
_HEADERS = {"Authorization": "Bearer Oracle"}
_RDMA = ("customerLocalBlock", "customerNetworkBlock", "customerHPCIslandId")
_RACK = ("rackId", "networkBlockId", "buildingId")


class OciSource:
    """Asks the metadata of the host."""

    name = "oci"

    def __init__(self, door: MetadataDoor) -> None:
        self._door = door

    def read(self) -> Sighting:
        """The place of the node, none where the shape tells of none. Raises `SourceError`."""
        data = self._door.ask(PATH, _HEADERS)
        if data is None:
            return Sighting()
        host = mapping_of(PATH, data)
        rdma = part(f"{PATH}: rdmaTopologyData", host.get("rdmaTopologyData") or {})
        body, keys = (rdma, _RDMA) if rdma.get(_RDMA[0]) else (host, _RACK)
        leaf, spine, core = (_short(domain(PATH, body, key)) for key in keys)
        if not leaf:
            return Sighting()
        return Sighting(place=FabricPlace(source="oci", leaf=leaf, spine=spine, core=core))


def _short(ocid: str) -> str:
    """The part of an OCID that tells it apart, as Oracle's labels of nodes have it."""
    return ocid.rpartition(".")[2]
