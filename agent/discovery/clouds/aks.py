"""Azure: the scale set of the machine, and its placement group where it has several.

Azure names no switch. InfiniBand reaches no further than a placement group of a scale set, so that
stands for a leaf, and the zone for a spine.
"""

from __future__ import annotations

from fourleaf.agent.discovery.clouds.fields import domain, mapping_of, name_of, part
from fourleaf.agent.discovery.clouds.metadata import MetadataDoor
from fourleaf.agent.discovery.sighting import Sighting
from fourleaf.model.crds.discovered_topology import FabricPlace

PATH = "/metadata/instance?api-version=2021-12-13"
_HEADERS = {"Metadata": "true"}


class AksSource:
    """Asks the instance metadata service."""

    name = "aks"

    def __init__(self, door: MetadataDoor) -> None:
        self._door = door

    def read(self) -> Sighting:
        """The place of the node, none where it is in no scale set. Raises `SourceError`."""
        data = self._door.ask(PATH, _HEADERS)
        if data is None:
            return Sighting()
        compute = part(f"{PATH}: compute", mapping_of(PATH, data).get("compute"))
        pool = domain(PATH, compute, "vmScaleSetName")
        group = domain(PATH, compute, "placementGroupId")
        region, zone = (domain(PATH, compute, key) for key in ("location", "zone"))
        if not pool:
            return Sighting()
        leaf = f"{pool}-{group[:8]}" if group else pool
        spine = f"{region}-{zone}" if zone else region
        leaf, spine = name_of(f"{PATH}: compute", leaf), spine and name_of(PATH, spine)
        return Sighting(place=FabricPlace(source="aks", leaf=leaf, spine=spine))
