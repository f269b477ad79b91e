"""The kinds of objects that say what nodes there are and what they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fourleaf.model.readers.device_nodes import STATUS
from fourleaf.model.readers.dra.api import DEVICE_CLASS, SLICE
from fourleaf.model.readers.live.ground import Ground
from fourleaf.model.readers.manifest import Body


class Part(NamedTuple):
    """What is done with one kind: taken and forgotten by name, and which names there are.

    The first two tell whether that says anything new.
    """

    put: Callable[[Ground, str, Body], bool]
    remove: Callable[[Ground, str], bool]
    names: Callable[[Ground], list[str]]


GROUNDED: dict[tuple[str, str], Part] = {
    ("", "Node"): Part(Ground.put, Ground.remove, lambda ground: ground.names),
    STATUS: Part(Ground.put_inventory, Ground.remove_inventory, lambda ground: ground.inventories),
    SLICE: Part(Ground.put_slice, Ground.remove_slice, lambda ground: ground.slices),
    DEVICE_CLASS: Part(Ground.put_class, Ground.remove_class, lambda ground: ground.classes),
}
"""By API group and kind."""
