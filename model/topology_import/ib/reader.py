"""From a dump of `ibnetdiscover` to a description, in five steps."""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding
from fourleaf.model.readers.topology.findings_text import advice, sentence
from fourleaf.model.readers.topology.rails import named_units, rail_units, unit_of_hosts
from fourleaf.model.topology_import.description import Description, DescriptionFormat, ScalableUnit
from fourleaf.model.topology_import.ib.cabling import Wires, wires_of
from fourleaf.model.topology_import.ib.completeness import cut_off
from fourleaf.model.topology_import.ib.lines import read_devices
from fourleaf.model.topology_import.ib.links import link_findings
from fourleaf.model.topology_import.ib.names import switch_names
from fourleaf.model.topology_import.layers import Layers
from fourleaf.model.topology_import.text import Text


def read_ibnetdiscover(text: Text) -> Description:
    """The fabric of a dump. Raises `BadInput`."""
    # 1. Lines become devices with ports.
    devices = read_devices(text)
    names, twice = switch_names(text, devices)
    # 2. Cables tell leaf switches from those above.
    wires = wires_of(devices)
    cut = cut_off(devices)
    if not any(wires.hosts.values()):
        _refuse_hostless(text, cut)
    text.stop_on_errors()
    # 3. Leaf switches that share their hosts are one unit, which stands for a leaf.
    units = named_units(rail_units(wires.hosts), names)
    leaf_of, between = unit_of_hosts(wires.hosts, units)
    # 4. What is above units makes spines and cores.
    layers = _layers(wires, units, names, leaf_of)
    # 5. What is odd goes along.
    wide = {name: group for name, group in units.items() if len(group) > 1}
    rails = max((len(group) for group in wide.values()), default=0)
    unnamed = [guid for guid, name in names.items() if name == guid]
    return Description(
        DescriptionFormat.IBNETDISCOVER,
        text.name,
        layers.positions(),
        units=tuple(
            ScalableUnit(name, tuple(names[o] for o in group)) for name, group in wide.items()
        ),
        islands=layers.islands(),
        findings=(
            *cut,
            *finding(FindingKind.RAIL_UNITS, wide, rails=rails),
            *layers.left_out(),
            *finding(FindingKind.HOSTS_UNNAMED, wires.unnamed),
            *finding(FindingKind.SWITCHES_UNNAMED, unnamed),
            *finding(FindingKind.SWITCH_NAME_TWICE, twice),
            *finding(FindingKind.NODE_IN_TWO_LEAVES, between),
            *finding(FindingKind.NODE_WITHOUT_LEAF, wires.hosts.keys() - leaf_of.keys()),
            *link_findings(devices, names, wires, units),
        ),
    )


def _refuse_hostless(text: Text, cut: tuple[Finding, ...]) -> None:
    for one in cut:
        text.error(0, "Ca", None, sentence(one), advice(one))
    if not cut:
        rdma = "Let the nodes describe their adapters as `HOST mlx5_0` (rdma-ndd does)."
        text.error(0, "Ca", None, "no adapter names a host on a leaf switch", rdma)


def _layers(
    wires: Wires,
    units: Mapping[str, tuple[str, ...]],
    names: Mapping[str, str],
    leaf_of: Mapping[str, str],
) -> Layers:
    nodes: dict[str, list[str]] = {}
    for host, leaf in leaf_of.items():
        nodes.setdefault(leaf, []).append(host)
    return Layers(
        {leaf: tuple(hosts) for leaf, hosts in nodes.items()},
        {leaf: tuple(names[one] for one in group) for leaf, group in units.items()},
        _renamed(wires.above, names),
        _renamed(wires.beside, names),
    )


def _renamed(
    links: Mapping[str, frozenset[str]], names: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    return {names[one]: frozenset(names[other] for other in own) for one, own in links.items()}
