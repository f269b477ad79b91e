"""Nodes placed by what their agents found, and what of that is to be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fourleaf.model.readers.config import ConfigRead
from fourleaf.model.readers.nodes.nodes import NodeRead, has_gpus
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.topology.contradictions import contradictions
from fourleaf.model.readers.topology.findings import FindingKind
from fourleaf.model.readers.topology.findings_text import advice, sentence
from fourleaf.model.readers.topology.standing import (
    NOWHERE,
    DiscoveredStanding,
    discovered_standing,
)
from fourleaf.model.topology import Levels, Place, labels_decide

Standing = list[tuple[NodeRead, Place | None]]
"""Nodes with where they stand, None for those that nothing places."""


def with_discovered(
    nodes: Sequence[NodeRead],
    standing: Standing,
    levels: Levels | None,
    read: ConfigRead,
) -> tuple[Standing, DiscoveredStanding]:
    """`standing` with the places that were discovered, where labels leave that open."""
    found = {one.node.name: one.discovered for one in nodes if one.discovered is not None}
    if not found:
        return standing, NOWHERE
    on_gpus = {one.node.name: one.node.labels for one in nodes if has_gpus(one, read.config.spec)}
    labelled = {one.node.name: place for one, place in standing if place is not None}
    decide = labels_decide(read.config.spec.topology, levels, list(on_gpus.values()))
    made = discovered_standing(found, on_gpus.keys(), labelled, decide)
    if made.decides:
        standing = [(one, None) for one in nodes if one.node.name in on_gpus]
    return [(one, place or made.places.get(one.node.name)) for one, place in standing], made


def warn_of_discovered(
    report: Report,
    nodes: Sequence[NodeRead],
    discovered: DiscoveredStanding,
    leaf_of: Mapping[str, str],
    read: ConfigRead,
) -> None:
    """Say what agents found that contradicts itself or labels, or is too little to go by."""
    if discovered is NOWHERE:
        return
    found = {one.node.name: one.discovered for one in nodes if one.discovered is not None}
    told = (*discovered.findings, *contradictions(found, discovered.spotted, leaf_of))
    for one in told:
        if not one.is_note and one.kind is not FindingKind.DISCOVERY_FAILED:
            field = f"spec.topology[{one.kind}]"
            read.warn(report, field, None, sentence(one), advice(one))
