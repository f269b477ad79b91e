"""Traces and fabrics by the names that people type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from fourleaf.model.fabric import Fabric
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.simulator.readers import kalos, lingjun, openb_nodes, openb_pods, philly, recorded
from fourleaf.simulator.trace import Trace

BUNDLED = "bundled"
TRACES: Mapping[str, Callable[[], Trace]] = {
    BUNDLED: lambda: recorded.trace_of(recorded.recording(recorded.BUNDLED), BUNDLED),
    "kalos": kalos.trace,
    "philly": philly.trace,
    "openb": openb_pods.trace,
}
"""Each reads the whole trace, and raises `NoData` where its file is not there."""
FABRICS = ("lingjun", "openb", "regular")


def is_trace(text: str) -> bool:
    """Whether `text` names a trace, or a file or folder, which may be a recording."""
    return text in TRACES or Path(text).exists()


def trace(text: str) -> Trace:
    """The trace of that name, else the recording at that path. Raises `NoData`."""
    if text in TRACES:
        return TRACES[text]()
    return recorded.trace_of(recorded.recording(Path(text)), text)


def fabric(text: str) -> Fabric:
    """The fabric that `text` names: `lingjun`, `openb` or `regular`, with `:N` for N nodes.

    `bundled`, or the path of a recording, is the fabric of the recording. Lingjun is tiled to N
    nodes; `regular` has leaves of 4 and spines of 8 leaves, 1000 nodes without N. Raises
    `ValueError` for any other text, `NoData` where a file is not there.
    """
    if text == BUNDLED:
        return recorded.fabric_of(recorded.recording(recorded.BUNDLED))
    name, _, number = text.partition(":")
    if name not in FABRICS and text not in TRACES and text and Path(text).exists():
        return recorded.fabric_of(recorded.recording(Path(text)))
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
