"""Whether one gang fits, found without the solver where that is possible. Loads no OR-tools."""

from __future__ import annotations

from fourleaf.model.extensions import Extensions
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.laws.quota import left_of_quotas, new_gpus
from fourleaf.solver.selection import select
from fourleaf.solver.units import factory_for
from fourleaf.solver.view import View


def fits_alone(snapshot: Snapshot, extensions: Extensions) -> bool | None:
    """Whether the only waiting gang of `snapshot` can be placed; None where only a solve tells.

    Its places are walked with the room that each role has there by itself. Where no place has
    that, the gang fits nowhere. Where one has, a gang of one role fits, unless a law looks at
    more than that room: at uplinks, or at nodes that its pods share.
    """
    if not select(snapshot).batch:
        return False
    gang = snapshot.gangs[0]
    left = left_of_quotas(snapshot).get(gang.key.namespace)
    if left is not None and new_gpus(gang) > max(0, left):
        return False
    factory = factory_for(snapshot, extensions)
    unit = factory.of(gang)
    if unit.loose:
        return None
    room = View(snapshot, factory.ground).room(unit.kind).by_leaf
    if not any(unit.fit(place, room) for place in unit.locations.required):
        return False
    simple = len(gang.roles) == 1 and not unit.careful and not gang.bandwidth
    return True if simple else None
