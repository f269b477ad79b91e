"""What decides how a gang is modelled: gangs of one kind in one namespace share their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

from fourleaf.model.gang import Gang, Role
from fourleaf.model.node_constraint import ANY_NODE


def gang_kind(gang: Gang) -> Hashable:
    """Equal for gangs that ask for the same, but for their names, their age and their hold.

    Where members run already, these make a place of what would be none.
    """
    roles = tuple((role.request, role.constraint, role.size, _seats(role)) for role in gang.roles)
    wishes = (gang.strategy, gang.policy, gang.preferred_domain, gang.latency_sensitive)
    return roles, wishes, gang.bandwidth, gang.one_per_node, gang.priority


def _seats(role: Role) -> frozenset[tuple[str, int]]:
    return frozenset(Counter(node for _, node in role.bound).items())


def in_itself(gang: Gang) -> Gang:
    """A gang without what follows from where pods of others are, who come and go all the time.

    Which nodes it may use is another question then; what it only prefers was true when it was
    looked at.
    """
    roles = tuple(replace(role, constraint=ANY_NODE, preferences=()) for role in gang.roles)
    return replace(gang, roles=roles)
