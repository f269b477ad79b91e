"""Ports of InfiniBand and RoCE adapters, and modules, as the kernel tells of them in `/sys`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.model.crds.discovered_topology import MOST_PORTS, FabricPort, KernelModule
from fourleaf.model.problems import shown
from fourleaf.model.topology_import.ib.names import titled_host

SYSFS = Path("/sys")
_ADAPTERS = "class/infiniband"
_MOST_BYTES = 4096
_RATE = re.compile(r"([0-9]{1,5})(?:\.[0-9]+)? Gb/sec\b.*")
_STATE = re.compile(r"[0-9]: ([A-Z_]{1,32})")
_LID = re.compile(r"0x[0-9a-f]{1,8}")
_GID = re.compile(r"[0-9a-f]{4}(:[0-9a-f]{4}){7}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")
_LAYERS = ("InfiniBand", "Ethernet")


class SysfsSource:
    """Reads `root`, where `/sys` of the host is mounted."""

    name = "sysfs"

    def __init__(self, root: Path = SYSFS) -> None:
        self._root = root

    def read(self) -> Sighting:
        """All ports of adapters, virtual functions left out; modules. Raises `SourceError`."""
        ports: list[FabricPort] = []
        for adapter in self._adapters():
            for folder in _listed(adapter / "ports"):
                if len(ports) == MOST_PORTS:
                    message = f"{adapter.parent}: has more than {MOST_PORTS} ports"
                    raise SourceError(message, "Leave adapters out that are no part of the fabric.")
                ports.append(_port(adapter.name, folder, self._interfaces(folder)))
        modules = (one for one in get_args(KernelModule) if (self._root / "module" / one).is_dir())
        return Sighting(ports=tuple(ports), modules=tuple(modules))

    def hosts(self) -> list[str]:
        """The names that adapters give their host, as `rdma-ndd` sets them."""
        named = (titled_host(_said(adapter / "node_desc")) for adapter in self._adapters())
        return sorted({name for name in named if name})

    def _interfaces(self, port: Path) -> list[str]:
        """The network interfaces of a port: of a bond, those that it joins."""
        name = _said(port / "gid_attrs" / "ndevs" / "0")
        if not _NAME.fullmatch(name):
            return []
        joined = _said(self._root / "class" / "net" / name / "bonding" / "slaves").split()
        return [one for one in joined if _NAME.fullmatch(one)][:8] or [name]

    def _adapters(self) -> Iterator[Path]:
        for adapter in _listed(self._root / _ADAPTERS):
            if not (adapter / "device" / "physfn").exists():
                yield adapter


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if _NAME.fullmatch(one.name))
    except OSError:
        return []


def _port(adapter: str, folder: Path, interfaces: list[str]) -> FabricPort:
    layer = _matched(folder / "link_layer", re.compile("|".join(_LAYERS)))
    rate = _matched(folder / "rate", _RATE)
    gid = _matched(folder / "gids" / "0", _GID)
    state = _matched(folder / "state", _STATE)
    infiniband = layer == _LAYERS[0]
    return FabricPort.model_validate(
        {
            "name": f"{adapter}/{folder.name}",
            "link_layer": layer,
            "state": state.partition(": ")[2].capitalize(),
            "gbps": int(rate.partition(" ")[0].partition(".")[0]) if rate else 0,
            "interfaces": interfaces,
            "subnet": gid[:19] if infiniband else "",
            "lid": _lid(folder / "lid") if infiniband else 0,
            "smLID": _lid(folder / "sm_lid") if infiniband else 0,
        }
    )


def _lid(file: Path) -> int:
    return int(_matched(file, _LID) or "0", 16)


def _matched(file: Path, pattern: re.Pattern[str]) -> str:
    """What `file` says, "" where it is absent. Raises `SourceError` where it says nonsense."""
    said = _said(file)
    if said and not pattern.fullmatch(said):
        raise SourceError(f"{file}: {shown(said)} is not understood", "See the adapter's driver.")
    return said


def _said(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("ascii", "replace").strip()
    except OSError:
        # Entries without a value, such as those of GIDs without an interface, cannot be read.
        return ""
