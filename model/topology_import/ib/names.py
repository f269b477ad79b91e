"""Names of hosts and switches, from the descriptions that their devices carry."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from fourleaf.model.topology_import.ib.records import DeviceKind, IbDevice
from fourleaf.model.topology_import.text import Text

_HOST = re.compile(r"'?([A-Za-z0-9][A-Za-z0-9._-]*?)'?(?:\s+(\S+)(?:\s+\([^)]*\))?)?")
_MANAGED = re.compile(r"MF0;([^;:\s]+):([^/:\s]+)(?:/\S*)?")
_NOBODY = frozenset({"localhost", "localhost.localdomain", "none", "Mellanox", "MT25408"})
AGGREGATION = "Aggregation Node"
"""Ends the description of a switch's own adapter for in-network reductions (SHARP)."""


def host_of(adapter: IbDevice) -> str:
    """The host in a description such as `gpu-7 mlx5_0` or `gpu-7 HCA-1`; "" where none is."""
    return titled_host(adapter.description)


def titled_host(title: str) -> str:
    """The host that the description `title` of an adapter names; "" where it names none."""
    found = _HOST.fullmatch(title)
    if found is None or found[1] in _NOBODY or found[2] == "Technologies":
        return ""
    return found[1]


def switch_names(text: Text, devices: Mapping[str, IbDevice]) -> tuple[dict[str, str], list[str]]:
    """GUID -> name of each switch, all different, and names that several switches give.

    The name is that of a managed switch (`MF0;NAME:MODEL/U1`), else a description of one
    word; where that is missing or not unique, the GUID.
    """
    said = {one.guid: _said(one) for one in devices.values() if one.kind is DeviceKind.SWITCH}
    counts = Counter(said.values())
    twice = [name for name, count in counts.items() if name and count > 1]
    names = {guid: name if counts[name] == 1 and name else guid for guid, name in said.items()}
    for guid, name in names.items():
        text.sound(devices[guid].line, "Switch", name)
    return names, twice


def _said(switch: IbDevice) -> str:
    managed = _MANAGED.fullmatch(switch.description)
    if managed is not None:
        return managed[1]
    plain = switch.description
    return plain if plain and not re.search(r"[\s;:/]", plain) else ""
