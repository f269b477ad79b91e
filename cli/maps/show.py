"""Device maps as tables, documents, patches and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fourleaf.cli.output.console import show, write
from fourleaf.cli.output.documents import write_document
from fourleaf.cli.output.text import BlockText, yaml_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fourleaf.model.device_maps.fix import Fixed
    from fourleaf.model.device_maps.nodes import MapNodes
    from fourleaf.model.readers.pods.device_map import Pin


class MapFormat(StrEnum):
    """What `-o` of `fourleaf map generate` and `fix` takes."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    ANNOTATION = "annotation"
    PATCH = "patch"
    VALUES = "values"


def show_map(
    pins: Mapping[int, Pin], ground: MapNodes, output: MapFormat, fixed: Fixed | None = None
) -> None:
    """Print a map; `fixed` says what became of it."""
    from fourleaf.model.readers.pods.device_map import DEVICE_MAP, map_text

    text = BlockText(map_text(pins))
    match output:
        case MapFormat.TABLE:
            show(_lines(pins, ground, fixed))
        case MapFormat.ANNOTATION:
            write(text)
        case MapFormat.PATCH:
            template = {"metadata": {"annotations": {DEVICE_MAP: text}}}
            write(yaml_text({"spec": {"template": template}}))
        case MapFormat.VALUES:
            write(yaml_text({"podAnnotations": {DEVICE_MAP: text}}))
        case _:
            write_document(document(pins, ground, fixed), output)


def document(
    pins: Mapping[int, Pin], ground: MapNodes, fixed: Fixed | None = None
) -> dict[str, Any]:
    """The map as data; `changes` and `left` where it was mended."""
    from fourleaf.model.config.spec import API_VERSION
    from fourleaf.model.readers.pods.device_map import map_text

    lines = [
        {
            "index": index,
            "node": pin.node,
            "devices": list(pin.devices),
            "pool": ground.pool_of(pin.node),
        }
        for index, pin in pins.items()
    ]
    whole: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "DeviceMap",
        "provider": ground.provider.value,
        "lines": lines,
        "annotation": BlockText(map_text(pins)),
    }
    if fixed is not None:
        whole["changes"] = [
            {"index": one.index, "from": str(one.before), "to": str(one.after)}
            for one in fixed.changes
        ]
        whole["left"] = [
            {"index": one.index, "line": f"{one.index}={one.pin}", "why": one.why}
            for one in fixed.left
        ]
    return whole


def _lines(
    pins: Mapping[int, Pin], ground: MapNodes, fixed: Fixed | None
) -> Iterator[RenderableType]:
    from rich.text import Text

    yield _head(ground)
    yield _table(pins, ground)
    for one in fixed.changes if fixed else ():
        yield Text(f"{one.index}: {one.after} instead of {one.before}", style="green")
    for left in fixed.left if fixed else ():
        yield Text(f"{left.index}: {left.pin} stays: {left.why}", style="red")


def check_lines(
    maps: Iterable[tuple[str, Mapping[int, Pin]]], ground: MapNodes
) -> Iterator[RenderableType]:
    """The lines of all `maps`, each given by the title of its object."""
    from rich.text import Text

    yield _head(ground)
    for title, pins in maps:
        yield Text(title)
        yield _table(pins, ground)


def _head(ground: MapNodes) -> RenderableType:
    from rich.text import Text

    return Text(f"{ground.provider.value} cluster, {_nodes(ground)}", style="bold")


def _table(pins: Mapping[int, Pin], ground: MapNodes) -> RenderableType:
    from fourleaf.cli.maps.rows import Rows

    rows = [("pod", "node", "devices", "pool", "known from")]
    for index, pin in pins.items():
        devices = ",".join(map(str, pin.devices))
        known = _known_from(pin, ground)
        rows.append((str(index), pin.node, devices, ground.pool_of(pin.node), known))
    return Rows(rows)


def _known_from(pin: Pin, ground: MapNodes) -> str:
    """What says that the node of a line has devices, "" where nothing does."""
    node = ground.nodes.get(pin.node)
    if node is None:
        return ""
    return "this map alone" if node.silent else node.known_from


def _nodes(ground: MapNodes) -> str:
    ready = sum(one.usable for one in ground.nodes.values())
    silent = sum(one.silent for one in ground.nodes.values())
    many = "1 usable GPU node" if ready == 1 else f"{ready} usable GPU nodes"
    unknown = f"; of {silent} nothing says which devices they have" if silent else ""
    return f"{many} of {len(ground.nodes)}{unknown}"
