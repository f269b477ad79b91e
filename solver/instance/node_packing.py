"""What a node costs pods of a strategy that looks for few nodes: the fewer it holds, the more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fourleaf.model.config.strategies import pods_allowed
from fourleaf.model.gang import Gang, owner_key
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.instance.fabric_index import FabricIndex


@dataclass(frozen=True, slots=True)
class PackProfile:
    """What decides what a node costs.

    The request, how many pods it could hold at best, and the nodes that hold some already.
    """

    request: Resources
    most: int
    opened: frozenset[str]


class NodePacking:
    """The nodes of a snapshot as profiles see them (docs/model.md, section 6), worked out once."""

    def __init__(self, snapshot: Snapshot, fabric: FabricIndex, free: list[Resources]) -> None:
        self._snapshot = snapshot
        self._fabric = fabric
        self._free = free
        self._values: dict[PackProfile, list[int]] = {}
        self._differs: dict[PackProfile, bool] = {}
        self._holds: dict[int, int] = {}
        """By the identity of a request, how many pods of it one node holds when empty."""
        self._requests: list[Resources] = []

    def profile_of(self, gang: Gang, role: int) -> PackProfile | None:
        """The profile of the pods of a role, None where each node costs them as much."""
        settings = self._fabric.spec.strategy(gang.strategy)
        if not settings.fewest_nodes:
            return None
        owner = owner_key(gang)
        replicas = self._snapshot.replicas.get(owner) if owner else None
        pods, opened = gang.size, frozenset(node for r in gang.roles for _, node in r.bound)
        if replicas is not None:
            pods, opened = replicas.total, frozenset(replicas.on_node)
        if pods == 1:
            return None
        request = gang.roles[role].request
        nodes = len(self._fabric.nodes)
        most = min(pods_allowed(pods, settings.most_per_node, nodes), self._most(request))
        return PackProfile(request, most, opened) if most > 1 else None

    def values(self, profile: PackProfile) -> list[int]:
        """Node -> what it costs a pod, 0..1000."""
        found = self._values.get(profile)
        if found is None:
            most, known = profile.most, dict[int, int]()
            least = 0 if profile.opened else 1000 // most
            found = []
            for node, free in zip(self._fabric.nodes, self._free, strict=True):
                if node.name in profile.opened:
                    found.append(0)
                    continue
                if id(free) not in known:
                    held = min(most, fits(free, profile.request))
                    known[id(free)] = 1000 // max(1, held) - least
                found.append(known[id(free)])
            self._values[profile] = found
        return found

    def tells_apart(self, gang: Gang, role: int) -> bool:
        """Whether nodes cost the pods of a role different amounts."""
        profile = self.profile_of(gang, role)
        if profile is None:
            return False
        if profile not in self._differs:
            self._differs[profile] = len(set(self.values(profile))) > 1
        return self._differs[profile]

    def columns(self, gangs: Iterable[Gang]) -> list[tuple[int, ...]]:
        """The different answers for all roles of `gangs`."""
        profiles = {self.profile_of(gang, i) for gang in gangs for i in range(len(gang.roles))}
        return list({tuple(self.values(one)) for one in profiles if one is not None})

    def _most(self, request: Resources) -> int:
        known = self._holds.get(id(request))
        if known is None:
            known = max((fits(amount, request) for amount in self._fabric.amounts), default=0)
            self._holds[id(request)] = known
            self._requests.append(request)
        return known
