"""Exhaustive search on tiny instances: the best who, and the best where for a chosen set."""

from __future__ import annotations

from itertools import combinations

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import score
from tests.oracle.packing import Packing
from tests.oracle.seating import Seating, Seats, State

NOTHING = Extensions()


class Brute:
    """The oracle for one snapshot. `budget` bounds the steps of one question."""

    def __init__(
        self, snapshot: Snapshot, extensions: Extensions = NOTHING, budget: int = 200_000
    ) -> None:
        self.snapshot = snapshot
        self.extensions = extensions
        self.seating = Seating(snapshot, extensions, budget)
        self.packing = Packing(snapshot, extensions)
        self._scores: dict[tuple[GangKey, Seats], int] = {}

    def batch(self) -> list[Gang]:
        """Section 7, item 1."""
        spec = self.snapshot.config.spec
        order = sorted(
            (gang for gang in self.snapshot.gangs if gang.hold is None),
            key=lambda gang: (-gang.priority, gang.created, gang.key),
        )
        alike = [(gang.priority, gang.key.namespace) for gang in order]
        turns = [alike[:place].count(one) for place, one in enumerate(alike)]
        dealt = sorted(
            zip(order, turns, strict=True), key=lambda both: (-both[0].priority, both[1])
        )
        taken: list[Gang] = []
        for gang, _ in dealt:
            policy = spec.namespace(gang.key.namespace)
            kin = [other for other in taken if other.key.namespace == gang.key.namespace]
            members = sum(len(role.pods) for other in (*kin, gang) for role in other.roles)
            if policy.max_gangs is not None and len(kin) + 1 > policy.max_gangs:
                continue
            if policy.max_members is not None and members > policy.max_members:
                continue
            taken.append(gang)
        return taken[: spec.batch.size]

    def best_who(self) -> dict[int, int]:
        """Priority -> the greatest value, the higher priorities' being fixed; zeros left out."""
        spec, now = self.snapshot.config.spec, self.snapshot.now
        batch = self.batch()
        tiers = sorted({gang.priority for gang in batch}, reverse=True)
        options: list[tuple[tuple[int, ...], tuple[Gang, ...]]] = []
        for size in range(len(batch) + 1):
            for chosen in combinations(batch, size):
                values = dict.fromkeys(tiers, 0)
                for gang in chosen:
                    values[gang.priority] += placed_value(gang, age_step(spec, now, gang.created))
                options.append((tuple(values[tier] for tier in tiers), chosen))
        options.sort(key=lambda option: option[0], reverse=True)
        for vector, chosen in options:
            if self._feasible(chosen):
                return {tier: n for tier, n in zip(tiers, vector, strict=True) if n}
        raise AssertionError("placing nobody is always possible")

    def _quota_holds(self, chosen: tuple[Gang, ...]) -> bool:
        for namespace in {gang.key.namespace for gang in chosen}:
            quota = self.snapshot.config.spec.namespace(namespace).gpu_quota
            new = sum(
                role.request.gpus * len(role.pods)
                for gang in chosen
                if gang.key.namespace == namespace
                for role in gang.roles
            )
            running = self.snapshot.running
            used = sum(pod.request.gpus for pod in running if pod.namespace == namespace)
            if quota is not None and new and used + new > quota:
                return False
        return True

    def _feasible(self, chosen: tuple[Gang, ...]) -> bool:
        if not self._quota_holds(chosen):
            return False
        uplinks = self.seating.uplinks(chosen)
        dead: set[object] = set()

        def place(i: int, state: State) -> bool:
            if i == len(chosen):
                return True
            key = (i, self.seating.canonical(state))
            if key in dead:
                return False
            for _, after in self.seating.placements(chosen[i], state, uplinks):
                if place(i + 1, after):
                    return True
            dead.add(key)
            return False

        self.seating.steps = 0
        return place(0, self.seating.start())

    def best_where(self, chosen: set[GangKey]) -> int | None:
        """Find the greatest score of exactly these gangs; None if they do not fit together."""
        gangs = tuple(self.seating.gangs[key] for key in sorted(chosen))
        if not self._quota_holds(gangs):
            return None
        uplinks = self.seating.uplinks(gangs)
        memo: dict[object, int | None] = {}

        def best(i: int, state: State) -> int | None:
            if i == len(gangs):
                return self.packing.best(self.packing.free(state[0]))
            key = (i, self.seating.canonical(state))
            if key not in memo:
                top: int | None = None
                for seats, after in self.seating.placements(gangs[i], state, uplinks):
                    rest = best(i + 1, after)
                    if rest is not None:
                        value = rest + self._score(gangs[i], seats)
                        top = value if top is None else max(top, value)
                memo[key] = top
            return memo[key]

        self.seating.steps = 0
        return best(0, self.seating.start())

    def _score(self, gang: Gang, seats: Seats) -> int:
        key = (gang.key, seats)
        if key not in self._scores:
            names: list[list[str]] = [[] for _ in gang.roles]
            for node, part in zip(self.seating.nodes, seats, strict=True):
                for r, pods in enumerate(part):
                    names[r] += [node.name] * pods
            seated = [
                pair
                for role, hosts in zip(gang.roles, names, strict=True)
                for pair in zip(role.pods, hosts, strict=True)
            ]
            self._scores[key] = sum(score(self.snapshot, gang, seated, self.extensions).values())
        return self._scores[key]


def best_who(snapshot: Snapshot, extensions: Extensions = NOTHING) -> dict[int, int]:
    """Priority -> the greatest value of "who"; priorities worth nothing are left out."""
    return Brute(snapshot, extensions).best_who()


def best_where(
    snapshot: Snapshot, chosen: set[GangKey], extensions: Extensions = NOTHING
) -> int | None:
    """Find the greatest "where" of exactly the gangs `chosen`; None if they do not fit."""
    return Brute(snapshot, extensions).best_where(chosen)
