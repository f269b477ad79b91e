"""Traces and fabrics by the names that people type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fourleaf.model.fabric import Fabric
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.simulator.readers import kalos, lingjun, openb_nodes, openb_pods, philly
from fourleaf.simulator.trace import Trace

TRACES: Mapping[str, Callable[[], Trace]] = {
    "kalos": kalos.trace,
    "philly": philly.trace,
    "openb": openb_pods.trace,
}
"""Each reads the whole trace, and raises `NoData` where its file is not there."""
FABRICS = ("lingjun", "openb", "regular")


def fabric(text: str) -> Fabric:
    """The fabric that `text` names: `lingjun`, `openb` or `regular`, with `:N` for N nodes.

    Lingjun is tiled to N nodes; `regular` has leaves of 4 and spines of 8 leaves, 1000 nodes
    without N. Raises `ValueError` for any other text, `NoData` where a file is not there.
    """
    name, _, number = text.partition(":")
    if name not in FABRICS or (number and not (number.isdecimal() and int(number) > 0)):
        raise ValueError(f"'{text}' is no fabric; there are {', '.join(FABRICS)}")
    nodes = int(number or 0)
    if name == "openb":
        if nodes:
            raise ValueError(f"'{text}': the nodes of openb are as they are")
        return openb_nodes.fabric()
    if name == "lingjun":
        return lingjun.shape(nodes).fabric()
    return Shape.regular(nodes or 1000).fabric()
