"""Movers: gangs that stand and may leave their places, as the program sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.standing import StandingGang
from fourleaf.solver.ground import Ground
from fourleaf.solver.residents import Resident


class Reach(Enum):
    """Where a gang may go: nowhere, within the spines where it stands, or to any legal place."""

    NOWHERE = auto()
    SPINES = auto()
    ANYWHERE = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Mover:
    """A gang that may leave its place.

    `whole` is the gang as if no member were placed. `seats` is (role, node) -> live members
    on nodes of the fabric; `live` counts all of them. `hit`: it lives on only if it is placed
    with all its members; where it stays it stays broken. `whole` of a gang that nowhere may
    take is never asked about.
    """

    standing: StandingGang
    whole: Gang
    seats: dict[tuple[int, int], int]
    live: int
    reach: Reach
    hit: bool = False

    @property
    def key(self) -> GangKey:
        """The gang's key."""
        return self.whole.key

    @property
    def price(self) -> int:
        """What it costs to move all of its live members."""
        return self.live * self.standing.move_cost

    def resident(self, ground: Ground, alike: object) -> Resident:
        """The gang as it stands; only those with equal `alike` count as one."""
        seats = tuple(
            (node, ground.known_request(self.whole.roles[role].request), pods)
            for (role, node), pods in self.seats.items()
        )
        return Resident(alike, seats, self._demand(ground))

    def _demand(self, ground: Ground) -> tuple[tuple[int, int], ...]:
        asked = self.whole.bandwidth
        if not asked:
            return ()
        nodes = Counter(ground.leaf_of[node] for node in {node for _, node in self.seats})
        if len(nodes) < 2:
            return ()
        return tuple(sorted((leaf, asked * count) for leaf, count in nodes.items()))


def mover(standing: StandingGang, ground: Ground, reach: Reach, hit: bool) -> Mover:
    """The mover of a gang that stands."""
    gang = standing.gang
    seats: Counter[tuple[int, int]] = Counter()
    for number, role in enumerate(gang.roles):
        for _, name in role.bound:
            node = ground.index.get(name)
            if node is not None:
                seats[number, node] += 1
    live = sum(len(role.bound) for role in gang.roles)
    return Mover(standing, whole(gang), dict(seats), live, reach, hit)


def whole(gang: Gang) -> Gang:
    """The gang as if no member were placed."""
    roles = tuple(
        Role(
            (*(pod for pod, _ in role.bound), *role.pods),
            role.request,
            role.constraint,
        )
        for role in gang.roles
    )
    return replace(gang, roles=roles)


def without(snapshot: Snapshot, standing: Iterable[StandingGang]) -> tuple[RunningPod, ...]:
    """The running pods but the members of these gangs."""
    gone = {
        (one.gang.key.namespace, pod)
        for one in standing
        for role in one.gang.roles
        for pod, _ in role.bound
    }
    return tuple(pod for pod in snapshot.running if (pod.namespace, pod.name) not in gone)
