"""Whether a dump of `ibnetdiscover` is whole: every device that a link leads to has a section."""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding
from fourleaf.model.topology_import.ib.names import titled_host
from fourleaf.model.topology_import.ib.records import IbDevice

SWITCH_PREFIX = "S-"


def cut_off(devices: Mapping[str, IbDevice]) -> tuple[Finding, ...]:
    """Devices without a section, nothing where the dump is whole.

    `many` is how many adapters, `some` how many switches. The names are those of the hosts, as
    far as links say whose adapter they lead to; where no link does, GUIDs. `ibnetdiscover` prints
    switches before adapters, so a dump that ends early lacks hosts.
    """
    missing = {
        port.peer: titled_host(port.peer_title)
        for device in devices.values()
        for port in device.ports
        if port.peer not in devices
    }
    switches = sum(guid.startswith(SWITCH_PREFIX) for guid in missing)
    hosts = set(missing.values()) - {""}
    return finding(
        FindingKind.CUT_OFF, hosts or missing, many=len(missing) - switches, some=switches
    )
