"""Exhaustive search over what may become of standing gangs on tiny instances.

Every mover's every legal seating is listed once; then all combinations are walked, gang by
gang, with what is left on nodes and uplinks. Written from the rules, without the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang
from fourleaf.model.quantity import mbits
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot
from tests.oracle.leafrule import LeafRule, Part, wish_of
from tests.oracle.packing import Packing
from tests.oracle.seating import TooManyError

Seats = tuple[Part, ...]
"""Members per role, by node in fabric order."""

State = tuple[tuple[Resources, ...], tuple[int, ...]]
"""What is left on each node, and what is taken of each uplink."""

Worth = tuple[int, ...]
"""What is compared, the most important first; more is better."""

NOTHING = Extensions()


@dataclass(frozen=True)
class Way:
    """One thing that may become of a gang: its seats (`None`: it is gone), and its worth.

    `pods` of it move; `evicted` is what each eviction limit counts of that.
    """

    seats: Seats | None
    worth: Worth
    pods: int = 0
    evicted: tuple[int, ...] = ()


class Ground:
    """The nodes of a snapshot by number, and the legal seatings of gangs on them."""

    def __init__(self, snapshot: Snapshot, budget: int) -> None:
        self.snapshot = snapshot
        self.budget = budget
        self.steps = 0
        fabric = snapshot.fabric
        self.nodes = [node for leaf in fabric.leaves for node in leaf.nodes]
        self.leaf = [fabric.leaf_of[node.name] for node in self.nodes]
        self.spine = [fabric.leaves[leaf].spine for leaf in self.leaf]

    def spend(self) -> None:
        """Count a step. Raises `TooManyError` beyond the budget."""
        self.steps += 1
        if self.steps > self.budget:
            raise TooManyError

    def standing(self, gang: Gang) -> Seats:
        """Where the bound members of a gang are."""
        return tuple(
            tuple(sum(host == node.name for _, host in role.bound) for role in gang.roles)
            for node in self.nodes
        )

    def seatings(self, gang: Gang) -> list[Seats]:
        """Every legal seating of all members; a member may stay where it may not come anew."""
        rule = LeafRule(self.snapshot, wish_of(self.snapshot, gang), NOTHING)
        legal, _ = rule.anew().unbounded()
        nobody = (0,) * len(gang.roles)
        stands = self.standing(gang)
        found: set[Seats] = set()
        for where in legal:
            rows = [list(self._in_leaf(gang, rule, stands, leaf, part)) for leaf, part in where]
            for picks in product(*rows):
                self.spend()
                seats = {i: part for pick in picks for i, part in pick}
                found.add(tuple(seats.get(i, nobody) for i in range(len(self.nodes))))
        return sorted(found)

    def _in_leaf(
        self, gang: Gang, rule: LeafRule, stands: Seats, leaf: int, need: Part
    ) -> Iterator[tuple[tuple[int, Part], ...]]:
        members = [i for i in range(len(self.nodes)) if self.leaf[i] == leaf]
        most = self.snapshot.config.spec.topology_constraints.max_nodes_per_leaf
        options: list[list[Part]] = []
        for i in members:
            here = []
            for part in product(*(range(n + 1) for n in need)):
                new = any(
                    count > stands[i][r] and not rule.eligible(r, self.nodes[i])
                    for r, count in enumerate(part)
                )
                crowd = gang.one_per_node and sum(part) > 1
                full = not self._holds(gang, i, part) and any(
                    count > stands[i][r] for r, count in enumerate(part)
                )
                if not new and not crowd and not full:
                    here.append(part)
            options.append(here)

        def pick(at: int, left: Part, used: int) -> Iterator[tuple[tuple[int, Part], ...]]:
            self.spend()
            if most is not None and used > most:
                return
            if at == len(members):
                if not any(left):
                    yield ()
                return
            for part in options[at]:
                after = tuple(a - b for a, b in zip(left, part, strict=True))
                if min(after) >= 0:
                    for rest in pick(at + 1, after, used + any(part)):
                        yield ((members[at], part), *rest) if any(part) else rest

        yield from pick(0, need, 0)

    def _holds(self, gang: Gang, node: int, part: Part) -> bool:
        left = self.nodes[node].allocatable
        for role, count in zip(gang.roles, part, strict=True):
            if fits(left, role.request) < count:
                return False
            for _ in range(count):
                left = minus(left, role.request)
        return True

    def demand(self, gang: Gang, seats: Seats, as_it_stands: bool) -> dict[int, int]:
        """What the gang takes of uplinks: by `fill` where it is placed, else by its nodes."""
        leaves: dict[int, list[int]] = {}
        hosts: dict[int, int] = {}
        for i, part in enumerate(seats):
            if any(part):
                row = leaves.setdefault(self.leaf[i], [0] * len(part))
                hosts[self.leaf[i]] = hosts.get(self.leaf[i], 0) + 1
                for r, count in enumerate(part):
                    row[r] += count
        if not gang.bandwidth or len(leaves) < 2:
            return {}
        if as_it_stands:
            return {leaf: gang.bandwidth * count for leaf, count in hosts.items()}
        rule = LeafRule(self.snapshot, wish_of(self.snapshot, gang), NOTHING)
        return {
            leaf: gang.bandwidth * rule.fill(leaf, tuple(row))[1] for leaf, row in leaves.items()
        }

    def uplinks(self) -> list[int | None]:
        """What each leaf's uplink carries in all; None where unlimited."""
        default = self.snapshot.config.spec.network.uplink_bandwidth
        return [
            leaf.uplink if leaf.uplink is not None or default is None else mbits(default)
            for leaf in self.snapshot.fabric.leaves
        ]

    def empty_of(self, gangs: list[StandingGang]) -> State:
        """What is free when these gangs are away; only gangs of the snapshot take uplinks."""
        away = {
            (one.gang.key.namespace, pod)
            for one in gangs
            for role in one.gang.roles
            for pod, _ in role.bound
        }
        free = [node.allocatable for node in self.nodes]
        index = {node.name: i for i, node in enumerate(self.nodes)}
        stay: dict[object, dict[str, int]] = {}
        for pod in self.snapshot.running:
            if (pod.namespace, pod.name) in away or pod.node not in index:
                continue
            free[index[pod.node]] = minus(free[index[pod.node]], pod.request)
            if pod.gang is not None and pod.bandwidth:
                stay.setdefault(pod.gang, {})[pod.node] = pod.bandwidth
        links = [0] * len(self.snapshot.fabric.leaves)
        for hosts in stay.values():
            if len({self.leaf[index[node]] for node in hosts}) > 1:
                for node, bandwidth in hosts.items():
                    links[self.leaf[index[node]]] += bandwidth
        return tuple(free), tuple(links)


def _nothing(_: State) -> Worth:
    return ()


class Moving:
    """The best that may become of all gangs together.

    `finish` is what the end is worth by itself. `budget` is the most pods that move, `limits` the
    most that each eviction limit may count.
    """

    def __init__(
        self,
        ground: Ground,
        ways: list[tuple[Gang, Seats, list[Way]]],
        finish: Callable[[State], Worth] = _nothing,
        budget: int = 1_000_000,
        limits: tuple[int, ...] = (),
    ) -> None:
        self.ground = ground
        self.limits = limits
        self.ways = ways
        self.finish = finish
        self.budget = budget
        self._memo: dict[object, Worth | None] = {}
        self._limits = ground.uplinks()

    def best(
        self, state: State, at: int = 0, spent: int = 0, evicted: tuple[int, ...] = ()
    ) -> Worth | None:
        """The greatest worth of all gangs from `at` on; None where not all find a place."""
        if at == len(self.ways):
            return self.finish(state)
        evicted = evicted or (0,) * len(self.limits)
        key = (at, state, spent, evicted)
        if key in self._memo:
            return self._memo[key]
        gang, stands, ways = self.ways[at]
        top: Worth | None = None
        for way in ways:
            self.ground.spend()
            after = self._take(gang, stands, way, state)
            pods = spent + way.pods
            gone = tuple(
                a + b for a, b in zip(evicted, way.evicted or (0,) * len(evicted), strict=True)
            )
            over = any(a > b for a, b in zip(gone, self.limits, strict=True))
            if after is None or pods > self.budget or over:
                continue
            rest = self.best(after, at + 1, pods, gone)
            if rest is None:
                continue
            if rest:
                whole = tuple(a + b for a, b in zip(way.worth, rest, strict=True))
            else:
                whole = way.worth
            top = whole if top is None else max(top, whole)
        self._memo[key] = top
        return top

    def _take(self, gang: Gang, stands: Seats, way: Way, state: State) -> State | None:
        if way.seats is None:
            return state
        free, links = list(state[0]), list(state[1])
        for i, part in enumerate(way.seats):
            for role, count in zip(gang.roles, part, strict=True):
                if count and fits(free[i], role.request) < count:
                    return None
                for _ in range(count):
                    free[i] = minus(free[i], role.request)
        asked = self.ground.demand(gang, way.seats, way.seats == stands)
        for leaf, demand in asked.items():
            links[leaf] += demand
            limit = self._limits[leaf]
            if limit is not None and links[leaf] > limit:
                return None
        return tuple(free), tuple(links)


def moved(stands: Seats, seats: Seats) -> int:
    """Live members that are not where they were."""
    kept = sum(
        min(a, b)
        for here, there in zip(stands, seats, strict=True)
        for a, b in zip(here, there, strict=True)
    )
    return sum(map(sum, stands)) - kept


def named(snapshot: Snapshot, gang: Gang, live: bool) -> tuple[int, ...]:
    """How many live (or lost) members of a gang each eviction limit names."""
    members = {
        (gang.key.namespace, pod)
        for role in gang.roles
        for pod in ([name for name, _ in role.bound] if live else role.pods)
    }
    return tuple(len(limit.pods & members) for limit in snapshot.eviction_limits)


def evictions(snapshot: Snapshot, one: StandingGang, count: int) -> tuple[int, ...]:
    """What each limit counts where so many live members move, and the lost ones are placed."""
    live, lost = named(snapshot, one.gang, True), named(snapshot, one.gang, False)
    hit = one.hit
    return tuple(min(count, a) + (b if hit else 0) for a, b in zip(live, lost, strict=True))


def left_of_limits(snapshot: Snapshot) -> tuple[int, ...]:
    """What gangs that start over leave of each limit."""
    left = [limit.most for limit in snapshot.eviction_limits]
    for one in snapshot.standing:
        if one.hit and one.policy is RepairPolicy.RESTART:
            for live in (True, False):
                taken = named(snapshot, one.gang, live)
                left = [a - b for a, b in zip(left, taken, strict=True)]
    return tuple(max(0, most) for most in left)


def best_repair(snapshot: Snapshot, budget: int = 200_000) -> Worth:
    """Value kept alive by priority, highest first, then minus the least cost of moves."""
    ground = Ground(snapshot, budget)
    tiers = sorted({one.gang.priority for one in snapshot.standing}, reverse=True)
    ways: list[tuple[Gang, Seats, list[Way]]] = []
    away: list[StandingGang] = []
    for one in snapshot.standing:
        if one.hit and one.policy is RepairPolicy.RESTART:
            away.append(one)
            continue
        if (one.hit and one.policy is RepairPolicy.WAIT) or not (one.hit or one.movable):
            continue
        away.append(one)
        stands = ground.standing(one.gang)
        nothing = (0,) * len(tiers)
        alive = tuple(one.gang.weight if one.gang.priority == tier else 0 for tier in tiers)
        found = [Way(stands, (*nothing, 0))]
        for seats in ground.seatings(one.gang):
            if not one.hit or _policy_allows(ground, one.policy, stands, seats):
                count = moved(stands, seats)
                worth = (*(alive if one.hit else nothing), -one.move_cost * count)
                found.append(Way(seats, worth, evicted=evictions(snapshot, one, count)))
        ways.append((one.gang, stands, found))
    limits = left_of_limits(snapshot)
    best = Moving(ground, ways, limits=limits).best(ground.empty_of(away))
    if best is None:
        raise AssertionError("leaving everything as it is is always possible")
    return best or (0,) * (len(tiers) + 1)


def _policy_allows(ground: Ground, policy: RepairPolicy, stands: Seats, seats: Seats) -> bool:
    if not any(map(sum, stands)) or policy is RepairPolicy.MOVE:
        return True
    if policy is RepairPolicy.PATCH:
        return moved(stands, seats) == 0
    spines = {ground.spine[i] for i, part in enumerate(stands) if any(part)}
    return all(ground.spine[i] in spines for i, part in enumerate(seats) if any(part))


def best_victims(snapshot: Snapshot, gang: Gang, budget: int = 200_000) -> Worth | None:
    """Minus the victims by priority, highest first, then minus their price; None: none suffice."""
    ground = Ground(snapshot, budget)
    possible = [
        one
        for one in snapshot.standing
        if one.preemptible
        and one.gang.priority < gang.priority
        and any(role.bound for role in one.gang.roles)
    ]
    tiers = sorted({one.gang.priority for one in possible}, reverse=True)
    seatings = [(gang, ground.standing(gang), [Way(s, ()) for s in ground.seatings(gang)])]
    quota = snapshot.config.spec.namespace(gang.key.namespace).gpu_quota
    asked = sum(role.request.gpus * len(role.pods) for role in gang.roles)
    top: Worth | None = None
    for size in range(len(possible) + 1):
        for chosen in combinations(possible, size):
            counts = [-sum(one.gang.priority == tier for one in chosen) for tier in tiers]
            price = sum(
                one.move_cost * len(role.bound) for one in chosen for role in one.gang.roles
            )
            worth = (*counts, -price)
            if top is not None and worth <= top:
                continue
            if _is_over(snapshot, chosen):
                continue
            gone = {
                (one.gang.key.namespace, pod)
                for one in chosen
                for role in one.gang.roles
                for pod, _ in role.bound
            }
            used = sum(
                pod.request.gpus
                for pod in snapshot.running
                if pod.namespace == gang.key.namespace and (pod.namespace, pod.name) not in gone
            )
            if quota is not None and asked and used + asked > quota:
                continue
            if Moving(ground, seatings).best(ground.empty_of(list(chosen))) is not None:
                top = worth
    return top


def _is_over(snapshot: Snapshot, chosen: tuple[StandingGang, ...]) -> bool:
    """Whether a limit names too many live members of these gangs."""
    gone = {
        (one.gang.key.namespace, pod)
        for one in chosen
        for role in one.gang.roles
        for pod, _ in role.bound
    }
    return any(len(limit.pods & gone) > limit.most for limit in snapshot.eviction_limits)


def best_defrag(snapshot: Snapshot, pods: int, budget: int = 200_000) -> Worth:
    """Value of waiting gangs by priority (or of kept rooms, where none waits), minus the cost."""
    ground = Ground(snapshot, budget)
    waiting = [gang for gang in snapshot.gangs if gang.hold is None]
    tiers = sorted({gang.priority for gang in waiting}, reverse=True)
    nothing = (0,) * (len(tiers) if waiting else 1)
    movers = [one for one in snapshot.standing if one.movable and not one.hit]
    ways: list[tuple[Gang, Seats, list[Way]]] = []
    for one in movers:
        stands = ground.standing(one.gang)
        found = [Way(stands, (*nothing, 0))]
        for seats in ground.seatings(one.gang):
            count = moved(stands, seats)
            if count <= pods:
                evicted = evictions(snapshot, one, count)
                found.append(Way(seats, (*nothing, -one.move_cost * count), count, evicted))
        ways.append((one.gang, stands, found))
    spec = snapshot.config.spec
    for gang in waiting:
        value = placed_value(gang, age_step(spec, snapshot.now, gang.created))
        worth = (*(value if gang.priority == tier else 0 for tier in tiers), 0)
        stands = ground.standing(gang)
        found = [Way(None, (*nothing, 0)), *(Way(s, worth) for s in ground.seatings(gang))]
        ways.append((gang, stands, found))
    packing = Packing(snapshot, NOTHING)

    def room(state: State) -> Worth:
        return (packing.best(packing.free(state[0])), 0)

    finish = _nothing if waiting else room
    limits = tuple(limit.most for limit in snapshot.eviction_limits)
    best = Moving(ground, ways, finish, pods, limits).best(ground.empty_of(movers))
    if best is None:
        raise AssertionError("leaving everything as it is is always possible")
    return best or (*nothing, 0)
