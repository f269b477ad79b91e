"""The Lingjun fabric: 847 hosts under 119 leaves (ASW) of 2 to 8 hosts, in 3 pods (PSW)."""

from __future__ import annotations

from collections import Counter

from fourleaf.model.topology import natural_key
from fourleaf.simulator.fabric_shape import Shape, tiled
from fourleaf.simulator.readers.folder import read

FILE = "lingjun_topo.csv"


def shape(nodes: int = 0) -> Shape:
    """Leaf sizes by spine (PSW) in natural order, as in production.

    A leaf is an ASW of one PSW: names repeat under different ones. With `nodes`, repeated
    until that many nodes are there; the last leaf and the last spine are cut to fit.
    """
    hosts = Counter(read(FILE, lambda row: (row["PSW"], row["ASW"])))
    order = sorted(hosts, key=lambda leaf: (natural_key(leaf[0]), natural_key(leaf[1])))
    spines: dict[str, list[int]] = {}
    for leaf in order:
        spines.setdefault(leaf[0], []).append(hosts[leaf])
    return tiled(list(spines.values()), nodes or hosts.total())
