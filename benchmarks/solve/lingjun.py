"""The Lingjun fabric and the sizes of the Kalos gangs, from the public data sets."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

from benchmarks.solve.instances import Shape

DEFAULT = Path(__file__).parents[3] / "shared" / "data"


def folder() -> Path:
    """Where the data lies: `TOPOLOGY_DATA_DIR`, or beside the checkout."""
    return Path(os.environ.get("TOPOLOGY_DATA_DIR", DEFAULT))


def available() -> bool:
    """Whether both files can be read."""
    return all((folder() / name).is_file() for name in ("lingjun_topo.csv", KALOS))


KALOS = "kalos_converted_319jobs.csv"


def shape(nodes: int = 0) -> Shape:
    """Leaf sizes by spine as in production: 847 hosts; with `nodes`, tiled to at least that."""
    with (folder() / "lingjun_topo.csv").open() as file:
        leaves = Counter((row["PSW"], row["ASW"]) for row in csv.DictReader(file))
    spines: dict[str, list[int]] = {}
    for (spine, _), size in sorted(leaves.items()):
        spines.setdefault(spine, []).append(size)
    one = tuple(tuple(sizes) for sizes in spines.values())
    tiled: list[tuple[int, ...]] = list(one)
    while sum(map(sum, tiled)) < nodes:
        tiled += one
    return Shape(tuple(tiled))


def sizes() -> list[int]:
    """Nodes of each Kalos gang."""
    with (folder() / KALOS).open() as file:
        return [int(row["gpu_workers"]) for row in csv.DictReader(file)]
