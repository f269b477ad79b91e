"""Every way to seat a gang of a tiny instance, and what is left afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.quantity import mbits
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.snapshot import Snapshot
from tests.oracle.leafrule import LeafRule, Part, wish_of

Seats = tuple[Part, ...]
"""Pods placed per role, by node in fabric order."""

State = tuple[tuple[Resources, ...], tuple[int, ...]]
"""What is left on each node, and what placed gangs take from each uplink."""

Step = tuple[tuple[int, Part, Resources], ...]
"""Nodes used in one leaf: (node, pods placed per role, what is left)."""


class TooManyError(Exception):
    """The instance has more placements than the oracle is willing to walk."""


class Seating:
    """The placements of every gang of a snapshot. `budget` bounds the steps of one question."""

    def __init__(self, snapshot: Snapshot, extensions: Extensions, budget: int) -> None:
        self.snapshot = snapshot
        self.budget = budget
        self.steps = 0
        fabric = snapshot.fabric
        self.nodes = [node for leaf in fabric.leaves for node in leaf.nodes]
        self.leaf = [fabric.leaf_of[node.name] for node in self.nodes]
        self.gangs = {gang.key: gang for gang in snapshot.gangs}
        self.rules = {
            gang.key: LeafRule(snapshot, wish_of(snapshot, gang), extensions)
            for gang in snapshot.gangs
        }
        self.locations = {
            key: self.rules[key].locations(self._bound(gang)) for key, gang in self.gangs.items()
        }
        self._numbers: dict[Resources, int] = {}
        self.alike = self._alike()

    def _bound(self, gang: Gang) -> dict[int, Part]:
        found: dict[int, list[int]] = {}
        for r, role in enumerate(gang.roles):
            for _, node in role.bound:
                row = found.setdefault(self.snapshot.fabric.leaf_of[node], [0] * len(gang.roles))
                row[r] += 1
        return {leaf: tuple(row) for leaf, row in found.items()}

    def _held(self, gang: Gang, name: str) -> int:
        return sum(node == name for role in gang.roles for _, node in role.bound)

    def _alike(self) -> list[int]:
        """Give a number to each node; those of a leaf with the same number differ in name alone."""
        numbers: dict[object, int] = {}
        found = []
        for node in self.nodes:
            looks = (
                repr(replace(node, name="", labels=dict(sorted(node.labels.items())))),
                self.snapshot.free[node.name],
                tuple(
                    (self._held(gang, node.name), self.rules[key].eligible(r, node))
                    for key, gang in sorted(self.gangs.items())
                    for r in range(len(gang.roles))
                ),
                tuple(
                    preference.holds(node)
                    for _, gang in sorted(self.gangs.items())
                    for role in gang.roles
                    for preference in role.preferences
                ),
            )
            found.append(numbers.setdefault(looks, len(numbers)))
        return found

    def start(self) -> State:
        """Tell what is free before anybody is placed."""
        free = tuple(self.snapshot.free[node.name] for node in self.nodes)
        return free, (0,) * len(self.snapshot.fabric.leaves)

    def _spend(self) -> None:
        self.steps += 1
        if self.steps > self.budget:
            raise TooManyError

    def _number(self, left: Resources) -> int:
        return self._numbers.setdefault(left, len(self._numbers))

    def canonical(self, state: State) -> object:
        """Sort the nodes of a leaf that are alike in every way, so that equal states are equal."""
        left, links = state
        rows = sorted(
            (leaf, alike, self._number(free))
            for leaf, alike, free in zip(self.leaf, self.alike, left, strict=True)
        )
        return tuple(rows), links

    def uplinks(self, chosen: tuple[Gang, ...]) -> list[int | None]:
        """Tell what each leaf's uplink has left for the chosen gangs; None where unlimited."""
        fabric, spec = self.snapshot.fabric, self.snapshot.config.spec
        default = spec.network.uplink_bandwidth
        left: list[int | None] = [
            leaf.uplink if leaf.uplink is not None or default is None else mbits(default)
            for leaf in fabric.leaves
        ]
        keys = {gang.key for gang in chosen}
        stands: dict[GangKey, dict[str, int]] = {}
        for pod in self.snapshot.running:
            if pod.gang is not None and pod.gang not in keys:
                stands.setdefault(pod.gang, {})[pod.node] = pod.bandwidth or 0
        for hosts in stands.values():
            if len({fabric.leaf_of[node] for node in hosts}) > 1:
                for node, bandwidth in hosts.items():
                    have = left[fabric.leaf_of[node]]
                    if have is not None:
                        left[fabric.leaf_of[node]] = have - bandwidth
        return left

    def placements(
        self, gang: Gang, state: State, uplinks: list[int | None]
    ) -> Iterator[tuple[Seats, State]]:
        """Every placement of `gang` in `state`, alike nodes taken once, and the state after."""
        left, links = state
        rule, bound = self.rules[gang.key], self._bound(gang)
        nobody = (0,) * len(gang.roles)
        for where in self.locations[gang.key]:
            after = list(links)
            if gang.bandwidth and len(where) > 1:
                for leaf, part in where:
                    after[leaf] += gang.bandwidth * rule.fill(leaf, part)[1]
            if any(
                new != old and have is not None and new > have
                for new, old, have in zip(after, links, uplinks, strict=True)
            ):
                continue
            rows = []
            for leaf, part in sorted(where):
                held = bound.get(leaf, nobody)
                need = tuple(a - b for a, b in zip(part, held, strict=True))
                rows.append(list(self._leaf_steps(gang, leaf, need, left)))
            for picks in product(*rows):
                self._spend()
                seats = [nobody] * len(self.nodes)
                free = list(left)
                for pick in picks:
                    for i, part, rest in pick:
                        seats[i], free[i] = part, rest
                yield tuple(seats), (tuple(free), tuple(after))

    def _leaf_steps(
        self, gang: Gang, leaf: int, need: Part, left: tuple[Resources, ...]
    ) -> Iterator[Step]:
        """Walk every way to seat `need` pods per role in one leaf."""
        members = [i for i in range(len(self.nodes)) if self.leaf[i] == leaf]
        members.sort(key=lambda i: (self.alike[i], self._number(left[i])))
        looks = [(self.alike[i], left[i]) for i in members]
        most = self.snapshot.config.spec.topology_constraints.max_nodes_per_leaf
        held = [self._held(gang, self.nodes[i].name) for i in members]
        if gang.one_per_node and max(held) > 1:
            return

        def seat(at: int, need: Part, opened: int, last: Part) -> Iterator[Step]:
            self._spend()
            if most is not None and opened > most:
                return
            if not any(need):
                yield ()
                return
            if at == len(members):
                return
            i = members[at]
            for part, rest in self._node_parts(gang, i, need, left[i]):
                # Of nodes that are alike, the earlier takes at least as much.
                if at > 0 and looks[at] == looks[at - 1] and part > last:
                    continue
                remaining = tuple(a - b for a, b in zip(need, part, strict=True))
                step: Step = ((i, part, rest),) if any(part) else ()
                fresh = any(part) and not held[at]
                for tail in seat(at + 1, remaining, opened + fresh, part):
                    yield step + tail

        yield from seat(0, need, sum(n > 0 for n in held), need)

    def _node_parts(
        self, gang: Gang, node: int, need: Part, left: Resources
    ) -> Iterator[tuple[Part, Resources]]:
        """Walk what one node can take of `need`: (pods per role, what is left)."""
        rule, name = self.rules[gang.key], self.nodes[node]
        able = [rule.eligible(r, name) for r in range(len(need))]
        held = self._held(gang, name.name)
        for part in product(*(range(n + 1 if ok else 1) for n, ok in zip(need, able, strict=True))):
            if gang.one_per_node and any(part) and sum(part) + held > 1:
                continue
            rest = _seated(left, gang, part)
            if rest is not None:
                yield part, rest


def _seated(left: Resources, gang: Gang, part: Part) -> Resources | None:
    """Take the pods of `part` from a node; None where they do not fit."""
    for role, pods in zip(gang.roles, part, strict=True):
        for _ in range(pods):
            if fits(left, role.request) < 1:
                return None
            left = minus(left, role.request)
    return left
