"""What decides how a gang is modelled: gangs of one kind in one namespace share their answers."""

from __future__ import annotations

from collections.abc import Hashable

from fourleaf.model.gang import Gang


def gang_kind(gang: Gang) -> Hashable:
    """Equal for gangs that ask for the same, but for their names, their age and their hold."""
    roles = tuple((role.request, role.constraint, role.size) for role in gang.roles)
    wishes = (gang.strategy, gang.policy, gang.preferred_domain, gang.latency_sensitive)
    return roles, wishes, gang.bandwidth, gang.one_per_node, gang.priority
