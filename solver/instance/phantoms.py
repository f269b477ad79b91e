"""Phantom gangs: the likely ones of the job mix, packed into what the batch leaves.

They have a value and no obligation; what they are worth is how many such gangs could
still start (the topological form of FGD's expected fragmentation).
"""

from __future__ import annotations

from fourleaf.model.gang import Gang, GangKey, Role, TopologyPolicy
from fourleaf.model.job_mix import LikelyGang
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.resources import Resources
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangClass, GangGroup, GangGroups
from fourleaf.solver.instance.gang_type import GangTypeKey

MOST_PHANTOMS = 100_000
"""More phantoms of a shape than any fabric holds."""


def phantom_units(state: CycleState, factory: GangGroups) -> list[tuple[LikelyGang, GangGroup]]:
    """A group for each shape of the mix that some candidate could hold now."""
    out = []
    for likely in state.likely:
        request = Resources(gpus=likely.gpus, cpu=0, memory=0, pods=1)
        key = GangTypeKey(((request, NodeConstraint(), likely.nodes),), True, None, None)
        kind = factory.kinds.get(key)
        candidates = factory.candidates(kind, TopologyPolicy.REQUIRED)
        role = Role(tuple(str(i) for i in range(likely.nodes)), request)
        gang = Gang(GangKey("", f"phantom-{likely.nodes}"), (role,), one_per_node=True)
        loose = bool(candidates.loose_spines)
        classes = [GangClass([gang], kind, candidates)]
        group = GangGroup(classes, MOST_PHANTOMS, loose=loose, phantom=True)
        out.append((likely, group))
    return out
