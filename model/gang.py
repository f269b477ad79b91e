"""A gang: pods that start together or not at all, and what they ask of the fabric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from fourleaf.model.node_constraint import ANY_NODE, NodeConstraint, Preference
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources

MOST_MEMBERS = 4000
"""Members of a gang: as many as one record can hold, however long the names of their nodes."""

MOST_CLAIMING_MEMBERS = 2500
"""The same where each has a ResourceClaim, which stands in the record beside its pod."""


MOST_SPLITS = 500
"""Ways to split the members of a gang of which each is looked at; the work grows by its square."""


def splits(sizes: Iterable[int]) -> int:
    """In how many ways a leaf could take some of so many members of each role."""
    return prod(size + 1 for size in sizes)


class Strategy(StrEnum):
    """How a gang wants to sit: close together, spread out, or in between."""

    CONSOLIDATED = "consolidated"
    DISTRIBUTED = "distributed"
    BALANCED = "balanced"


class TopologyPolicy(StrEnum):
    """Whether the leaf rule is a law (`Required`) or a cost (`Preferred`)."""

    REQUIRED = "Required"
    PREFERRED = "Preferred"


@dataclass(frozen=True, slots=True, order=True)
class GangKey:
    """Names a gang: namespace and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Role:
    """Members of a gang that ask for the same thing, in rank order.

    `pods` are still to be placed. `bound` are (pod, node) of members that run already.
    `constraint` says which nodes they may use, `preferences` which of those are worth more.
    """

    pods: tuple[str, ...]
    request: Resources
    constraint: NodeConstraint = ANY_NODE
    bound: tuple[tuple[str, str], ...] = ()
    preferences: tuple[Preference, ...] = ()

    @property
    def size(self) -> int:
        """All members of the role, placed or not."""
        return len(self.pods) + len(self.bound)


@dataclass(frozen=True, slots=True)
class Gang:
    """What is placed as one. `created` is in seconds since the epoch.

    `roles` stand in rank order: more GPUs per pod first. `bandwidth` is the least
    network bandwidth per node in Mbit/s. `one_per_node` holds for `distributed` gangs
    and for host anti-affinity. `hold` is set when the gang must wait whatever the
    fabric looks like (gates, missing members, something that cannot be honoured).
    `preempts`: lower priorities may have to make room for it. `duration` is how long it is
    expected to run, in seconds.
    """

    key: GangKey
    roles: tuple[Role, ...]
    priority: int = 0
    created: float = 0.0
    strategy: Strategy = Strategy.BALANCED
    policy: TopologyPolicy = TopologyPolicy.REQUIRED
    preferred_domain: str | None = None
    latency_sensitive: bool = False
    bandwidth: int | None = None
    one_per_node: bool = False
    hold: Hold | None = None
    preempts: bool = True
    duration: float | None = None

    @property
    def gpus(self) -> int:
        """GPUs of all members together."""
        return sum(role.request.gpus * role.size for role in self.roles)

    @property
    def weight(self) -> int:
        """What the gang counts for: its GPUs, or its pods where it asks for none."""
        return self.gpus or sum(role.size for role in self.roles)

    @property
    def demanding(self) -> bool:
        """Whether it demands more of its devices than their number."""
        return any(role.request.wants is not None for role in self.roles)

    @property
    def requests(self) -> dict[str, Resources]:
        """Unbound pod -> what it asks for."""
        return {pod: role.request for role in self.roles for pod in role.pods}

    def pod_weight(self, role: Role) -> int:
        """What one pod of `role` counts for; sums to `weight` over all members."""
        return role.request.gpus if self.gpus else 1


@dataclass(frozen=True, slots=True)
class Hold:
    """Why a gang may not be planned at all, found while reading. `kind` is a `ReasonKind` value."""

    kind: str
    detail: str
    counts: tuple[tuple[str, int], ...] = ()
    unblock: tuple[str, ...] = ()

    @property
    def reason(self) -> Reason:
        """What the plan says of the gang."""
        return Reason(ReasonKind(self.kind), self.detail, self.counts, unblock=self.unblock)
