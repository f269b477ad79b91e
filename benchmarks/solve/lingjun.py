"""The Lingjun fabric and the sizes of the Kalos gangs, from the public data sets."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

from benchmarks.solve.instances import Shape
from model.topology import natural_key

DEFAULT = Path(__file__).parents[3] / "shared" / "data"
FABRIC, KALOS = "lingjun_topo.csv", "kalos_converted_319jobs.csv"


def folder() -> Path:
    """Where the data lies: `TOPOLOGY_DATA_DIR`, or beside the checkout."""
    return Path(os.environ.get("TOPOLOGY_DATA_DIR", DEFAULT))


def available() -> bool:
    """Whether both files can be read."""
    return all((folder() / name).is_file() for name in (FABRIC, KALOS))


def shape(nodes: int = 0) -> Shape:
    """Leaf sizes by spine (PSW) in natural order, as in production.

    A leaf is an ASW of one PSW: names repeat under different ones. With `nodes`, repeated
    until that many nodes are there; the last leaf and the last spine are cut to fit.
    """
    with (folder() / FABRIC).open() as file:
        hosts = Counter((row["PSW"], row["ASW"]) for row in csv.DictReader(file))
    order = sorted(hosts, key=lambda leaf: (natural_key(leaf[0]), natural_key(leaf[1])))
    spines: dict[str, list[int]] = {}
    for leaf in order:
        spines.setdefault(leaf[0], []).append(hosts[leaf])
    return tiled(list(spines.values()), nodes or hosts.total())


def tiled(spines: list[list[int]], nodes: int) -> Shape:
    """`spines` again and again until there are exactly `nodes` nodes."""
    out: list[tuple[int, ...]] = []
    left = nodes
    while left:
        taken: list[int] = []
        for size in spines[len(out) % len(spines)]:
            taken.append(min(size, left))
            left -= taken[-1]
            if not left:
                break
        out.append(tuple(taken))
    return Shape(tuple(out))


def sizes() -> list[int]:
    """Workers of each Kalos gang, one node each."""
    with (folder() / KALOS).open() as file:
        return [int(row["gpu_workers"]) for row in csv.DictReader(file)]
