"""What `lint` says of device maps: lines that no pod can ever use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourleaf.model.problems import Problem
    from fourleaf.model.readers import Source


def map_faults(sources: Sequence[Source]) -> list[Problem]:
    """Errors of all device maps in `sources`, each map told of once however many pods have it.

    Lines that cannot be read are left out: reading reports those.
    """
    from fourleaf.model.device_maps.check import check_map
    from fourleaf.model.device_maps.map_annotations import annotated_maps
    from fourleaf.model.device_maps.nodes import ground_of
    from fourleaf.model.readers.objects.inventory import Inventory
    from fourleaf.model.readers.objects.report import Report

    inventory = Inventory(Report())
    inventory.take(sources)
    maps = annotated_maps(inventory)
    if not maps:
        return []
    ground = ground_of(inventory)
    once = {(one.manifest.namespace, one.text): one for one in reversed(maps)}
    found = (check_map(replace(one, bad=()), ground) for one in reversed(once.values()))
    return [problem for problems in found for problem in problems if problem.is_error]
