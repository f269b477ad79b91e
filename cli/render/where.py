"""Names of leaves and nodes, written short: neighbours as a range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.model.fabric import Fabric


class Where:
    """Writes places of one fabric."""

    def __init__(self, fabric: Fabric, glyphs: Glyphs) -> None:
        self._fabric = fabric
        self._glyphs = glyphs
        self._leaves = [leaf.name for leaf in fabric.leaves]
        self._nodes = list(fabric.nodes)
        self._index = {name: i for i, name in enumerate(self._nodes)}

    def leaves(self, nodes: Iterable[str]) -> str:
        """The leaves of `nodes`; leaves that follow each other in the fabric become a range."""
        of = self._fabric.leaf_of
        positions = sorted({of[node] for node in nodes if node in of})
        return _ranges(self._leaves, positions, self._glyphs)

    def nodes(self, nodes: Iterable[str]) -> str:
        """`nodes` in the order given; neighbours in the fabric become a range."""
        known = [self._index[node] for node in dict.fromkeys(nodes) if node in self._index]
        return _ranges(self._nodes, known, self._glyphs)


def _ranges(names: Sequence[str], positions: Sequence[int], glyphs: Glyphs) -> str:
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][-1] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    return ", ".join(
        names[run[0]] if len(run) == 1 else f"{names[run[0]]} {glyphs.to} {names[run[-1]]}"
        for run in runs
    )
