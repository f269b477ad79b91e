"""What is cabled to what: hosts, their adapters, leaf switches, and what is above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fourleaf.model.topology_import.ib.names import AGGREGATION, host_of
from fourleaf.model.topology_import.ib.records import DeviceKind, IbDevice


@dataclass(frozen=True)
class Wires:
    """The fabric by its cables.

    `hosts`: host -> leaf switch (GUID) -> its adapters there. `above`: GUID -> GUIDs one level
    up, `beside`: GUID -> GUIDs of all switches cabled to it. `level`: GUID -> 0 for leaf
    switches, more above. `unnamed` are adapters whose description names no host.
    """

    hosts: Mapping[str, Mapping[str, int]]
    above: Mapping[str, frozenset[str]]
    beside: Mapping[str, frozenset[str]]
    level: Mapping[str, int]
    unnamed: tuple[str, ...]


def wires_of(devices: Mapping[str, IbDevice]) -> Wires:
    """The fabric of `devices`.

    A leaf switch is one with hosts on it, unless two or more neighbours have four times as
    many: then it is a spine that carries a manager or a gateway.
    """
    neighbours: dict[str, set[str]] = {}
    cabled: dict[str, Counter[str]] = {}
    unnamed: list[str] = []
    for one in devices.values():
        if one.kind is DeviceKind.SWITCH:
            neighbours.setdefault(one.guid, set()).update(
                p.peer for p in one.ports if p.peer.startswith("S-")
            )
    for adapter, switches in _attached(devices).items():
        device = devices[adapter]
        if device.description.endswith(AGGREGATION):
            continue
        host = host_of(device)
        if not host:
            unnamed.append(adapter)
            continue
        cabled.setdefault(host, Counter()).update(one for one in switches if one in neighbours)
    carried = Counter(switch for own in cabled.values() for switch in own)
    level = _levels(neighbours, carried)
    hosts = {
        host: {one: count for one, count in own.items() if level.get(one) == 0}
        for host, own in cabled.items()
    }
    above = {
        one: frozenset(up for up in near if level.get(up, 0) == level.get(one, -2) + 1)
        for one, near in neighbours.items()
    }
    beside = {one: frozenset(near & neighbours.keys()) for one, near in neighbours.items()}
    return Wires(hosts, above, beside, level, tuple(unnamed))


def _attached(devices: Mapping[str, IbDevice]) -> dict[str, list[str]]:
    """Adapter -> the switch of each of its cabled ports, by whichever side says so."""
    adapters = {one.guid for one in devices.values() if one.kind is DeviceKind.ADAPTER}
    found: dict[str, dict[int, str]] = {}
    for one in devices.values():
        for port in one.ports:
            if one.kind is DeviceKind.ADAPTER and port.peer.startswith("S-"):
                found.setdefault(one.guid, {})[port.number] = port.peer
            elif one.kind is DeviceKind.SWITCH and port.peer in adapters:
                found.setdefault(port.peer, {}).setdefault(port.peer_port, one.guid)
    return {adapter: list(ports.values()) for adapter, ports in found.items()}


def _levels(neighbours: Mapping[str, set[str]], carried: Mapping[str, int]) -> dict[str, int]:
    def is_leaf(switch: str) -> bool:
        busier = [one for one in neighbours[switch] if carried[one] >= 4 * carried[switch]]
        return carried[switch] > 0 and len(busier) < 2

    level = {switch: 0 for switch in neighbours if is_leaf(switch)}
    edge = set(level)
    depth = 0
    while edge:
        depth += 1
        edge = {up for one in edge for up in neighbours[one] if up in neighbours} - level.keys()
        level.update(dict.fromkeys(edge, depth))
    return level
