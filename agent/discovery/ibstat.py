"""The ports of adapters as `ibstat` prints them, where the kernel's own files are not at hand."""

from __future__ import annotations

import re

from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.model.crds.discovered_topology import MOST_GBPS, MOST_PORTS, FabricPort
from fourleaf.model.problems import shown

MOST_BYTES = 2**18
"""Bytes of a file; a port takes some 300."""
_ADAPTER = re.compile(r"CA '([A-Za-z0-9][A-Za-z0-9_.-]{0,40})'")
_PORT = re.compile(r"\s+Port ([0-9]{1,3}):")
_FIELD = re.compile(r"\s+(State|Rate|Base lid|SM lid|Link layer): ?(.*)")
_ADVICE = "Write what `ibstat` prints, without options."


def read_ibstat(name: str, data: bytes) -> Sighting:
    """The ports in the file `name`. Raises `SourceError`."""
    adapter, found = "", list[dict[str, str]]()
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if head := _ADAPTER.fullmatch(line):
            adapter = head[1]
        elif port := _PORT.fullmatch(line):
            if not adapter:
                raise SourceError(f"{name}:{number}: names a port before an adapter", _ADVICE)
            found.append({"name": f"{adapter}/{port[1]}"})
        elif (field := _FIELD.fullmatch(line)) and found:
            found[-1][field[1]] = field[2].strip()
        if len(found) > MOST_PORTS:
            raise SourceError(f"{name}: has more than {MOST_PORTS} ports", _ADVICE)
    if not found:
        raise SourceError(f"{name}: names no port", _ADVICE)
    return Sighting(ports=tuple(_port(name, one) for one in found))


def _port(name: str, fields: dict[str, str]) -> FabricPort:
    layer = fields.get("Link layer", "")
    if layer not in ("", "InfiniBand", "Ethernet"):
        raise SourceError(f"{name}: Link layer: {shown(layer)} is not understood", _ADVICE)
    return FabricPort.model_validate(
        {
            "name": fields["name"],
            "link_layer": layer,
            "state": fields.get("State", "")[:32],
            "gbps": _number(name, "Rate", fields, MOST_GBPS),
            "lid": _number(name, "Base lid", fields),
            "smLID": _number(name, "SM lid", fields),
        }
    )


def _number(name: str, field: str, fields: dict[str, str], most: int = 2**32) -> int:
    said = fields.get(field, "0")
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]+)?", said):
        raise SourceError(f"{name}: {field}: {shown(said)} is no number", _ADVICE)
    number = int(said.partition(".")[0])
    if number > most:
        raise SourceError(f"{name}: {field}: {shown(said)} is above {most:,}", _ADVICE)
    return number
