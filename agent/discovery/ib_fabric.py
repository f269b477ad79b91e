"""The node's own place in a dump of `ibnetdiscover`, which a program of the host keeps new."""

from __future__ import annotations

from collections.abc import Callable, Collection

from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.model.crds.discovered_topology import FabricPlace
from fourleaf.model.problems import BadInput
from fourleaf.model.readers.text.sources import Source
from fourleaf.model.topology_import.description import DescriptionFormat
from fourleaf.model.topology_import.formats import read_description
from fourleaf.model.topology_import.host_names import match_names

MOST_BYTES = 8 * 2**20
"""Bytes of a dump: a fabric of some 2,000 nodes with eight adapters. Each agent reads all of it."""


def place_in_dump(
    hosts: Callable[[], Collection[str]],
) -> Callable[[str, bytes], Sighting]:
    """A reader of dumps that looks for a node by any of the names that `hosts` gives."""

    def read(name: str, data: bytes) -> Sighting:
        """Where the dump has the node. Raises `SourceError`."""
        try:
            source = Source(name, data)
            positions = read_description(source, DescriptionFormat.IBNETDISCOVER).positions
        except BadInput as bad:
            first = bad.problems[0]
            parts = (f"{first.source}:", first.field, first.value, first.message)
            raise SourceError(" ".join(filter(None, parts)), first.advice) from None
        names = sorted(hosts())
        match = match_names([one.node for one in positions], names)
        found = [one for one in positions if one.node in match.nodes]
        if len({one.leaf for one in found}) != 1:
            what = "under several leaves" if found else "under no leaf"
            message = f"{name}: has {' and '.join(names) or 'the node'} {what}"
            raise SourceError(
                message, "Have adapters describe themselves as HOST mlx5_0 (rdma-ndd)."
            )
        one = found[0]
        place = FabricPlace(source="ibnetdiscover", leaf=one.leaf, spine=one.spine, core=one.core)
        return Sighting(place=place)

    return read
