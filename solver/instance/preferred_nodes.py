"""What each node lacks of what pods prefer; nodes that no pod tells apart are worth the same."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import starmap

from fourleaf.model.gang import Gang, Role
from fourleaf.model.node_constraint import (
    FULL_WEIGHT,
    NODE_NAME_FIELD,
    NodeConstraint,
    Operator,
    Preference,
    Requirement,
    Toleration,
)
from fourleaf.solver.instance.fabric_index import FabricIndex

Profile = tuple[tuple[Preference, ...], tuple[Toleration, ...]]
"""What decides which nodes a pod prefers: its preferences, and which taints it tolerates."""


def profile_of(role: Role, fabric: FabricIndex) -> Profile | None:
    """The profile of the pods of `role`, None where each node of the fabric suits them as well."""
    if fabric.has_taints_to_avoid:
        return role.preferences, role.constraint.tolerations
    return (role.preferences, ()) if role.preferences else None


def profiles_of(gang: Gang, fabric: FabricIndex) -> tuple[Profile | None, ...]:
    """The profile of each role."""
    return tuple([profile_of(role, fabric) for role in gang.roles])


class PreferredNodes:
    """The nodes of one fabric as profiles see them, each worked out once.

    Pods of a namespace may name thousands of nodes, so no node is compared with a list of names.
    """

    def __init__(self, fabric: FabricIndex) -> None:
        self._fabric = fabric
        self._unmet: dict[Profile, list[int]] = {}
        self._lacking: dict[tuple[Requirement, ...], list[bool]] = {}

    def unmet(self, profile: Profile) -> list[int]:
        """Node -> the weight of what it lacks."""
        found = self._unmet.get(profile)
        if found is None:
            preferences, tolerations = profile
            found = self._avoided(tolerations)
            for one in preferences:
                lacking, weight = self._lacks(one.requirements), one.weight
                found = [
                    unmet + weight if lacks else unmet
                    for unmet, lacks in zip(found, lacking, strict=True)
                ]
            self._unmet[profile] = found
        return found

    def columns(self, gangs: Iterable[Gang]) -> list[tuple[int, ...]]:
        """The different answers of `unmet` for all roles of `gangs`."""
        fabric = self._fabric
        profiles = {one for gang in gangs for one in profiles_of(gang, fabric) if one is not None}
        return list({tuple(self.unmet(profile)) for profile in profiles})

    def _avoided(self, tolerations: tuple[Toleration, ...]) -> list[int]:
        nodes = self._fabric.nodes
        if not self._fabric.has_taints_to_avoid:
            return [0] * len(nodes)
        avoids = NodeConstraint(tolerations=tolerations).avoids
        # Few nodes have taints of their own.
        known = {node.taints: node for node in nodes}
        weights = {taints: avoids(node) * FULL_WEIGHT for taints, node in known.items()}
        return [weights[node.taints] for node in nodes]

    def _lacks(self, requirements: tuple[Requirement, ...]) -> list[bool]:
        """Node -> whether it does not meet all of these."""
        found = self._lacking.get(requirements)
        if found is None:
            columns = list(map(self._meeting, requirements))
            found = self._lacking[requirements] = list(
                starmap(lambda *met: not all(met), zip(*columns, strict=True))
            )
        return found

    def _meeting(self, requirement: Requirement) -> list[bool]:
        nodes = self._fabric.nodes
        if requirement.operator not in (Operator.IN, Operator.NOT_IN):
            return [requirement.holds(node) for node in nodes]
        # As `Requirement.holds` has it, in time that does not grow with the values.
        values, is_in = set(requirement.values), requirement.operator is Operator.IN
        if not requirement.is_field:
            return [(node.labels.get(requirement.key) in values) is is_in for node in nodes]
        if requirement.key == NODE_NAME_FIELD:
            return [(node.name in values) is is_in for node in nodes]
        return [not is_in] * len(nodes)
