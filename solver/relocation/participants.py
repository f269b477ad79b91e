"""Who takes part in a relocation, and as what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.job_mix import LikelyGang
from fourleaf.model.running_gang import EvictionLimit, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.cpsat.residents import Resident
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_classes import GangGroup, GangGroups


@dataclass(frozen=True, slots=True, eq=False)
class Participants:
    """The parts of one relocation.

    `state` is the fabric without the pods of the movers. `applicants` look for a place and
    stand nowhere, or may not leave where they stand; `value` is what placing a gang is worth
    within its priority. `must`: all applicants have to be placed. `droppable`: movers may be
    left without a place. `phantoms` are rooms worth keeping. `limits` say how many pods may be
    evicted; where they are `elastic`, more may, and it is counted how many more.
    """

    state: CycleState
    factory: GangGroups
    movers: tuple[Mover, ...]
    applicants: tuple[Gang, ...] = ()
    value: Callable[[Gang], int] = lambda gang: gang.weight
    must: bool = False
    droppable: bool = False
    phantoms: tuple[tuple[LikelyGang, GangGroup], ...] = ()
    limits: tuple[EvictionLimit, ...] = ()
    elastic: bool = False


class MoveScope(Enum):
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
    reach: MoveScope
    hit: bool = False

    @property
    def key(self) -> GangKey:
        """The gang's key."""
        return self.whole.key

    @property
    def price(self) -> int:
        """What it costs to move all of its live members."""
        return self.live * self.standing.move_cost

    def resident(self, fabric: FabricIndex, alike: object) -> Resident:
        """The gang as it stands; only those with equal `alike` count as one."""
        seats = tuple(
            (node, fabric.known_request(self.whole.roles[role].request), pods)
            for (role, node), pods in self.seats.items()
        )
        return Resident(alike, seats, self._demand(fabric))

    def _demand(self, fabric: FabricIndex) -> tuple[tuple[int, int], ...]:
        asked = self.whole.bandwidth
        if not asked:
            return ()
        nodes = Counter(fabric.leaf_of[node] for node in {node for _, node in self.seats})
        if len(nodes) < 2:
            return ()
        return tuple(sorted((leaf, asked * count) for leaf, count in nodes.items()))


def mover(standing: StandingGang, fabric: FabricIndex, reach: MoveScope, hit: bool) -> Mover:
    """The mover of a gang that stands."""
    gang = standing.gang
    seats: Counter[tuple[int, int]] = Counter()
    for number, role in enumerate(gang.roles):
        for _, name in role.bound:
            node = fabric.index.get(name)
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
    gone = {pod for one in standing for pod in one.live}
    return tuple(pod for pod in snapshot.running if (pod.namespace, pod.name) not in gone)


def waiting_gang(snapshot: Snapshot, key: GangKey) -> Gang:
    """The waiting gang of this name. Raises `KeyError` where there is none."""
    for gang in snapshot.gangs:
        if gang.key == key:
            return gang
    raise KeyError(f"no gang {key} waits; name one of the gangs of the snapshot")


def possible_victims(snapshot: Snapshot, gang: Gang) -> list[StandingGang]:
    """The gangs that may be evicted for `gang`: alive, of lower priority, and preemptible."""
    return [
        one
        for one in snapshot.standing
        if one.preemptible
        and one.gang.priority < gang.priority
        and one.gang.key != gang.key
        and any(role.bound for role in one.gang.roles)
    ]
