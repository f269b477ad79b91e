"""`preferences`: the penalty for a node that the pod would rather not have. Subtracted.

t = 1000 * u // max(100, a), at most 1000; a is the weight of all preferences of the pod, u that of
those which the node does not meet, and 100 more where it has a `PreferNoSchedule` taint that the
pod does not tolerate.
"""

from __future__ import annotations

from fourleaf.model.gang import Role
from fourleaf.model.node_constraint import FULL_WEIGHT

NAME = "preferences"


def value(role: Role, unmet: int) -> int:
    """The penalty for a pod of `role` on a node that lacks as much, 0..1000."""
    whole = sum([preference.weight for preference in role.preferences])
    return min(1000, 1000 * unmet // max(FULL_WEIGHT, whole))
