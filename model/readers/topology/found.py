"""What one agent found about its node, as far as leaves are made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from fourleaf.model.crds.discovered_topology import DiscoveredTopology
from fourleaf.model.crds.node_status import Gpu, NodeDevices
from fourleaf.model.readers.topology.label_values import label_value
from fourleaf.model.readers.topology.node_features import features_in
from fourleaf.model.topology import ONLY_SPINE, Place

_JOINED = "Completed"
"""The state of a device that belongs to its multi-node NVLink fabric."""


class DiscoverySource(StrEnum):
    """What leaves are discovered by, the most telling first."""

    IBNETDISCOVER = "ibnetdiscover"
    LLDP = "lldp"
    OCI = "oci"
    GKE = "gke"
    EKS = "eks"
    NVLINK = "nvlink"
    AKS = "aks"


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of one node.

    `switches`: chassis ID of a switch -> its name and how many interfaces see it, in order.
    `places`: by source, the domains that it names. `clique`: the part of a multi-node NVLink fabric
    that all its devices belong to, "" where they belong to none or to several. `faults`: source and
    message. `features`: those of `node_features` that it has.
    """

    switches: tuple[tuple[str, str, int], ...] = ()
    places: tuple[tuple[DiscoverySource, Place], ...] = ()
    clique: str = ""
    faults: tuple[tuple[str, str], ...] = ()
    features: tuple[str, ...] = ()


def found_in(status: Any, node_uid: str) -> Found | None:
    """What the status of a `GpuNodeStatus` says of the node `node_uid`, None for nothing.

    One that speaks of another life of the node, which may have stood elsewhere, says nothing; nor
    does one that its schema would refuse.
    """
    if not isinstance(status, Mapping) or not (status.get("topology") or _in_fabric(status)):
        return None
    try:
        devices = NodeDevices.model_validate(status)
    except ValidationError:
        return None
    if devices.node_uid and node_uid and devices.node_uid != node_uid:
        return None
    found = _found(devices.topology or DiscoveredTopology(), clique_of(devices.gpus))
    return None if found == Found() else found


def _in_fabric(status: Mapping[str, Any]) -> bool:
    gpus = status.get("gpus")
    first = gpus[0] if isinstance(gpus, list) and gpus else None
    return isinstance(first, Mapping) and bool(first.get("fabric"))


def _found(topology: DiscoveredTopology, clique: str) -> Found:
    names = {one.id: one.name for one in topology.switches}
    counts = Counter(one.id for one in topology.switches)
    return Found(
        tuple((id_, names[id_], counts[id_]) for id_ in sorted(counts)),
        tuple(
            (
                DiscoverySource(one.source),
                Place(
                    (label_value(one.core),) if one.core else (),
                    label_value(one.spine) if one.spine else ONLY_SPINE,
                    label_value(one.leaf),
                ),
            )
            for one in topology.places
        ),
        clique,
        tuple((one.source, one.message) for one in topology.faults),
        features_in(topology),
    )


def clique_of(gpus: list[Gpu]) -> str:
    """The clique of all `gpus` as NVIDIA's labels write it, "" where there is not one of all."""
    fabrics = {one.fabric for one in gpus}
    fabric = fabrics.pop() if len(fabrics) == 1 else None
    if fabric is None or not fabric.cluster_uuid or fabric.state != _JOINED:
        return ""
    return f"{fabric.cluster_uuid}.{fabric.clique_id}"
