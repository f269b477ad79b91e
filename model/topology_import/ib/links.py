"""What is odd about links: slow, one-sided or missing ones, and hosts short of adapters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding
from fourleaf.model.topology_import.ib.cabling import Wires
from fourleaf.model.topology_import.ib.names import AGGREGATION, host_of
from fourleaf.model.topology_import.ib.records import DeviceKind, IbDevice, Port


def link_findings(
    devices: Mapping[str, IbDevice],
    names: Mapping[str, str],
    wires: Wires,
    units: Mapping[str, tuple[str, ...]],
) -> tuple[Finding, ...]:
    """All that the links of the fabric tell."""
    return (
        *_degraded(devices, names),
        *_one_sided(devices, names),
        *_uplinks(devices, names, wires, units),
        *_short(wires, units),
    )


def _called(device: IbDevice, names: Mapping[str, str]) -> str:
    return names.get(device.guid) or host_of(device) or device.guid


def _degraded(devices: Mapping[str, IbDevice], names: Mapping[str, str]) -> tuple[Finding, ...]:
    """Links below most of their peers: links of one switch to hosts, or to switches."""
    found: dict[frozenset[tuple[str, int]], str] = {}
    for switch in devices.values():
        if switch.kind is not DeviceKind.SWITCH:
            continue
        for peers in _classes(switch, devices):
            usual = max(Counter(p.mbits for p in peers).items(), key=lambda one: (one[1], one[0]))
            for port in peers:
                if port.mbits < usual[0]:
                    ends = frozenset({(switch.guid, port.number), (port.peer, port.peer_port)})
                    other = _called(devices[port.peer], names)
                    name = f"{names[switch.guid]}[{port.number}] to {other} ({port.speed})"
                    found.setdefault(ends, name)
    return finding(FindingKind.LINK_DEGRADED, found.values())


def _classes(switch: IbDevice, devices: Mapping[str, IbDevice]) -> Iterator[list[Port]]:
    rated = [p for p in switch.ports if p.mbits and p.peer in devices]
    hosts = [p for p in rated if _is_host(devices[p.peer])]
    switches = [p for p in rated if devices[p.peer].kind is DeviceKind.SWITCH]
    yield from (peers for peers in (hosts, switches) if len(peers) > 1)


def _is_host(device: IbDevice) -> bool:
    return device.kind is DeviceKind.ADAPTER and not device.description.endswith(AGGREGATION)


def _one_sided(devices: Mapping[str, IbDevice], names: Mapping[str, str]) -> tuple[Finding, ...]:
    """Links that only one end knows of, though both ends were discovered."""
    known = {
        (one.guid, port.number): (port.peer, port.peer_port)
        for one in devices.values()
        for port in one.ports
    }
    alone = [
        f"{_called(devices[guid], names)}[{number}] to {_called(devices[peer], names)}[{other}]"
        for (guid, number), (peer, other) in known.items()
        if peer in devices and known.get((peer, other)) != (guid, number)
    ]
    return finding(FindingKind.LINK_ONE_SIDED, alone)


def _uplinks(
    devices: Mapping[str, IbDevice],
    names: Mapping[str, str],
    wires: Wires,
    units: Mapping[str, tuple[str, ...]],
) -> tuple[Finding, ...]:
    """Leaf switches without uplinks, and with fewer than most others."""
    leaves = [switch for group in units.values() for switch in group]
    counts = {
        leaf: sum(p.peer in wires.above[leaf] for p in devices[leaf].ports) for leaf in leaves
    }
    if not any(counts.values()):
        return ()
    usual = _mode(count for count in counts.values() if count)
    none = [names[leaf] for leaf, count in counts.items() if not count]
    fewer = [f"{names[leaf]} ({count})" for leaf, count in counts.items() if 0 < count < usual]
    return (
        *finding(FindingKind.SWITCH_WITHOUT_UPLINK, none),
        *finding(FindingKind.UPLINKS_UNEQUAL, fewer, usual=usual),
    )


def _short(wires: Wires, units: Mapping[str, tuple[str, ...]]) -> tuple[Finding, ...]:
    """Hosts with fewer adapters than most of their unit, units with fewer rails than most."""
    unit_of = {switch: name for name, group in units.items() for switch in group}
    adapters: dict[str, dict[str, int]] = {}
    for host, own in wires.hosts.items():
        if own:
            unit = unit_of[max(own, key=lambda one: (own[one], one))]
            adapters.setdefault(unit, {})[host] = sum(own.values())
    short = [
        f"{host} ({count} of {_mode(own.values())})"
        for own in adapters.values()
        for host, count in own.items()
        if count < _mode(own.values())
    ]
    wide = {name: len(group) for name, group in units.items() if len(group) > 1}
    rails = _mode(wide.values() or [0])
    few = [f"{name} ({count})" for name, count in wide.items() if count < rails]
    return (
        *finding(FindingKind.HOST_SHORT_OF_HCAS, short),
        *finding(FindingKind.UNIT_SHORT_OF_RAILS, few, usual=rails),
    )


def _mode(values: Iterable[int]) -> int:
    """The commonest of `values`, the largest of those where several are."""
    counts = Counter(values)
    return max(counts, key=lambda one: (counts[one], one))
