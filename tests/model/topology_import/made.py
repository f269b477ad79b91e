"""Descriptions of fabrics for tests, in the syntax of the programs that write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fourleaf.model.readers import Source
from fourleaf.model.readers.topology.findings import Finding, FindingKind
from fourleaf.model.topology_import.check import check_description
from fourleaf.model.topology_import.description import Description, DescriptionFormat
from fourleaf.model.topology_import.formats import read_description

Cable = tuple[str, int, str, int]
"""Device and port at one end, device and port at the other."""


@dataclass
class Dump:
    """A fabric to be printed as ibnetdiscover does. Hosts' adapters are `HOST DEVICE`."""

    switches: dict[str, str] = field(default_factory=dict)
    adapters: dict[str, str] = field(default_factory=dict)
    cables: dict[Cable, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    one_sided: set[tuple[str, int]] = field(default_factory=set)

    def switch(self, name: str) -> str:
        """Add a managed switch; its GUID name."""
        guid = f"S-{0x2C5EAB0300B80000 + len(self.switches):016x}"
        self.switches[guid] = f"MF0;{name}:MQM9701/U1"
        return guid

    def adapter(self, description: str) -> str:
        """Add an adapter; its GUID name."""
        guid = f"H-{0xE09D730300700000 + len(self.adapters):016x}"
        self.adapters[guid] = description
        return guid

    def cable(self, one: str, other: str, speed: str = "4xNDR") -> Cable:
        """Connect the next free ports of two devices."""
        link = (one, self._port(one), other, self._port(other))
        self.cables[link] = speed
        return link

    def _port(self, device: str) -> int:
        self.ports[device] = self.ports.get(device, 0) + 1
        return self.ports[device]

    def host(self, name: str, switches: Iterable[str], speed: str = "4xNDR") -> list[Cable]:
        """Add a host with an adapter on each of `switches`."""
        return [
            self.cable(self.adapter(f"{name} mlx5_{number}"), switch, speed)
            for number, switch in enumerate(switches)
        ]

    def text(self) -> str:
        """The dump."""
        lines = ["#", "# Topology file: generated on Wed Aug  6 16:11:23 2025", "#", ""]
        ends: dict[str, list[tuple[int, str, int, str]]] = {}
        for (one, port, other, far), speed in self.cables.items():
            for mine, number, peer, its in ((one, port, other, far), (other, far, one, port)):
                if (mine, number) not in self.one_sided:
                    ends.setdefault(mine, []).append((number, peer, its, speed))
        for guid, name in self.switches.items():
            lines += ["vendid=0x2c9", "devid=0xd2f2", f"sysimgguid=0x{guid[2:]}"]
            lines += [f"switchguid=0x{guid[2:]}({guid[2:]})"]
            lines += [f'Switch\t65 "{guid}"\t\t# "{name}" enhanced port 0 lid 73 lmc 0']
            for number, peer, its, speed in sorted(ends.get(guid, ())):
                title = self.switches.get(peer) or self.adapters[peer]
                extra = f"({peer[2:]}) " if peer in self.adapters else ""
                lines.append(f'[{number}]\t"{peer}"[{its}]{extra}\t\t# "{title}" lid 647 {speed}')
            lines.append("")
        for guid, title in self.adapters.items():
            lines += ["vendid=0x2c9", "devid=0x1021", f"caguid=0x{guid[2:]}"]
            lines += [f'Ca\t2 "{guid}"\t\t# "{title}"']
            for number, peer, its, speed in sorted(ends.get(guid, ())):
                name = self.switches.get(peer) or self.adapters[peer]
                end = f'# lid 669 lmc 0 "{name}" lid 73 {speed}'
                lines.append(f'[{number}]({guid[2:]}) \t"{peer}"[{its}]\t\t{end}')
            lines.append("")
        return "\n".join(lines)


def rails(units: int = 4, nodes: int = 32, rails: int = 8, spines: int = 4) -> Dump:
    """A rail-optimised fabric: `units` of `nodes` nodes with a leaf switch for each rail.

    Node `gpu-U-N` has its adapter R on `leaf-U-R`; every leaf switch goes to every spine.
    """
    dump = Dump()
    tops = [dump.switch(f"spine-{number}") for number in range(1, spines + 1)]
    for unit in range(1, units + 1):
        leaves = [dump.switch(f"leaf-{unit}-{rail}") for rail in range(1, rails + 1)]
        for number in range(1, nodes + 1):
            dump.host(f"gpu-{unit}-{number}", leaves)
        for leaf in leaves:
            for top in tops:
                dump.cable(leaf, top)
    return dump


def slurm(spines: int = 40, leaves: int = 25, nodes: int = 10) -> str:
    """A tree of Slurm with numbers that go on from leaf to leaf: 10,000 nodes as it stands."""
    lines = [f"SwitchName=core Switches=spine[1-{spines}]"]
    for spine in range(spines):
        first = spine * leaves
        lines.append(f"SwitchName=spine{spine + 1} Switches=leaf[{first + 1}-{first + leaves}]")
        for leaf in range(first, first + leaves):
            low, high = leaf * nodes + 1, (leaf + 1) * nodes
            lines.append(f"SwitchName=leaf{leaf + 1} Nodes=gpu[{low:05d}-{high:05d}]")
    return "\n".join(lines) + "\n"


def described(text: str, wanted: DescriptionFormat | None = None) -> Description:
    """What `text` describes."""
    return read_description(Source("in", text.encode()), wanted)


def leaves(one: Description) -> dict[tuple[str, str, str], list[str]]:
    """(Core, spine, leaf) -> its nodes in order."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for place in one.positions:
        found.setdefault((place.core, place.spine, place.leaf), []).append(place.node)
    return found


def findings(one: Description) -> dict[FindingKind, Finding]:
    """All findings by kind."""
    return {each.kind: each for each in check_description(one)}
