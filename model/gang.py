"""A gang: pods that start together or not at all, and what they ask of the fabric.

Replicas of one owner are gangs of one pod each that belong together to their strategy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod
from typing import Protocol, TypeAlias

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
    """The strategies that need no config: close together, spread out, or in between.

    A config may describe more; a gang has the name of its own.
    """

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
    network bandwidth per node in Mbit/s. `one_per_node` holds for strategies with that law
    and for host anti-affinity. `hold` is set when the gang must wait whatever the
    fabric looks like (gates, missing members, something that cannot be honoured).
    `preempts`: lower priorities may have to make room for it. `duration` is how long it is
    expected to run, in seconds. `owner` is the kind and name of what made its only pod and more
    like it, each a gang of its own: its replicas are spread or kept together; "" for all others.
    """

    key: GangKey
    roles: tuple[Role, ...]
    priority: int = 0
    created: float = 0.0
    strategy: str = Strategy.BALANCED
    policy: TopologyPolicy = TopologyPolicy.REQUIRED
    preferred_domain: str | None = None
    latency_sensitive: bool = False
    bandwidth: int | None = None
    one_per_node: bool = False
    hold: Hold | None = None
    preempts: bool = True
    duration: float | None = None
    owner: str = ""

    @property
    def size(self) -> int:
        """All members, placed or not."""
        return sum(role.size for role in self.roles)

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


OwnerKey: TypeAlias = tuple[str, str]
"""Namespace, and the kind and name of an owner."""


@dataclass(frozen=True, slots=True)
class Replicas:
    """What one owner has: `total` pods that wait or run, and how many run `on_node` by name."""

    total: int
    on_node: Mapping[str, int]


class _Runs(Protocol):
    """A pod that runs."""

    @property
    def namespace(self) -> str: ...
    @property
    def owner(self) -> str: ...
    @property
    def node(self) -> str: ...


def replicas_of(gangs: Iterable[Gang], running: Iterable[_Runs]) -> dict[OwnerKey, Replicas]:
    """The replicas of every owner of `gangs`."""
    waiting = Counter((gang.key.namespace, gang.owner) for gang in gangs if gang.owner)
    if not waiting:
        return {}
    on_node: dict[OwnerKey, Counter[str]] = {key: Counter() for key in waiting}
    for pod in running:
        if pod.owner and (pod.namespace, pod.owner) in on_node:
            on_node[pod.namespace, pod.owner][pod.node] += 1
    return {key: Replicas(n + on_node[key].total(), on_node[key]) for key, n in waiting.items()}


def owner_key(gang: Gang) -> OwnerKey | None:
    """The owner of which `gang` is one replica, None where its pods are all that there is."""
    return (gang.key.namespace, gang.owner) if gang.owner and gang.size == 1 else None


def set_key(gang: Gang) -> Hashable:
    """Equal for gangs whose pods are counted together: replicas of one owner that are alike."""
    owner = owner_key(gang)
    if owner is None:
        return gang.key
    role = gang.roles[0]
    wishes = (gang.strategy, gang.policy, gang.preferred_domain, gang.latency_sensitive)
    return owner, role.request, role.constraint, role.preferences, wishes, gang.bandwidth


def alone(gang: Gang) -> Gang:
    """The gang as relocations see it, which look at one gang at a time: without its owner."""
    return replace(gang, owner="") if gang.owner else gang
