"""The kinds that the fabric cache takes, and what is done with each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fourleaf.model.readers.live.fabric_cache import FabricCache
from fourleaf.model.readers.nodes.node_status import STATUS
from fourleaf.model.readers.objects.dra_kinds import DEVICE_CLASS, SLICE
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.objects.storage_kinds import CSI_NODE


class CacheUpdate(NamedTuple):
    """What is done with one kind: taken and forgotten by name, and which names there are.

    The first two tell whether that says anything new.
    """

    put: Callable[[FabricCache, str, Body], bool]
    remove: Callable[[FabricCache, str], bool]
    names: Callable[[FabricCache], list[str]]


FABRIC_UPDATES: dict[tuple[str, str], CacheUpdate] = {
    ("", "Node"): CacheUpdate(FabricCache.put, FabricCache.remove, lambda ground: ground.names),
    STATUS: CacheUpdate(
        FabricCache.put_inventory, FabricCache.remove_inventory, lambda ground: ground.inventories
    ),
    SLICE: CacheUpdate(
        FabricCache.put_slice, FabricCache.remove_slice, lambda ground: ground.slices
    ),
    DEVICE_CLASS: CacheUpdate(
        FabricCache.put_class, FabricCache.remove_class, lambda ground: ground.classes
    ),
    CSI_NODE: CacheUpdate(
        FabricCache.put_limits, FabricCache.remove_limits, lambda ground: ground.limits.names
    ),
}
"""By API group and kind."""
