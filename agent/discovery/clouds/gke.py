"""Google Cloud: the attribute `physical_host_topology`, or `physical_host` of older machines.

Subblocks stand for leaves, blocks for spines, and a cluster for a core.
"""

from __future__ import annotations

from fourleaf.agent.discovery.clouds.fields import domain, mapping_of, name_of
from fourleaf.agent.discovery.clouds.metadata import MetadataDoor
from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.model.crds.discovered_topology import FabricPlace
from fourleaf.model.problems import shown

_ATTRIBUTES = "/computeMetadata/v1/instance/attributes/"
TOPOLOGY = f"{_ATTRIBUTES}physical_host_topology"
HOST = f"{_ATTRIBUTES}physical_host"
_HEADERS = {"Metadata-Flavor": "Google"}
_ADVICE = "See what the attribute says on the node."


class GkeSource:
    """Asks the metadata server."""

    name = "gke"

    def __init__(self, door: MetadataDoor) -> None:
        self._door = door

    def read(self) -> Sighting:
        """The place of the node, none where it has no such attribute. Raises `SourceError`."""
        data = self._door.ask(TOPOLOGY, _HEADERS)
        if data is not None:
            body = mapping_of(TOPOLOGY, data)
            names = [domain(TOPOLOGY, body, key) for key in ("subblock", "block", "cluster")]
            return _place(*names)
        data = self._door.ask(HOST, _HEADERS)
        if data is None:
            return Sighting()
        # /CLUSTER/RACK/HOST
        path = data.decode("utf-8", "replace").strip().strip("/").split("/")
        if len(path) != 3:
            raise SourceError(f"{HOST}: {shown('/'.join(path))} has not three parts", _ADVICE)
        return _place(name_of(HOST, path[1]), name_of(HOST, path[0]), "")


def _place(leaf: str, spine: str, core: str) -> Sighting:
    if not leaf:
        return Sighting()
    return Sighting(place=FabricPlace(source="gke", leaf=leaf, spine=spine, core=core))
