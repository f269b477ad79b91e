"""Who stands in the way of the nearest place, and whose end would clear it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fourleaf.model.reasons.kinds import NearMiss, Reason
from fourleaf.model.resources import Resources, fits, plus
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.free_room import seated
from fourleaf.solver.explain.holders import Holder
from fourleaf.solver.explain.near_miss import LeafPart, ReachedCandidate, SpotReach
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import GangType

STARTS_WHEN = "it starts when "
"""Begins the advice to wait."""

WHOLE_WHEN = "it is whole again when "
"""The same for a gang of which members run."""

MOST_SHOWN = 4
"""So many holders are shown for one leaf."""

MOST_LEAVES = 8
"""Of a place of more leaves only those with too little room are shown, at most so many."""


class Blockers:
    """What keeps one group from one place."""

    def __init__(self, context: Context, group: GangGroup) -> None:
        self.context = context
        self.group = group
        self.kind: GangType = group.kind
        self._in_the_way: dict[int, frozenset[str]] = {}

    def holders(self, node: int) -> list[Holder]:
        """The pods on a node that are not the gang's own."""
        holders = self.context.holders.on(node)
        if not self.group.bound:
            return holders
        return [holder for holder in holders if holder.ends != str(self.group.gang.key)]

    def blocked(self, leaf: int) -> list[int]:
        """Nodes of a leaf that hold fewer of the gang's pods now than when empty."""
        free = self.context.after.free
        one = self.kind.key.one_per_node
        nodes = set()
        for role, request in enumerate(self.kind.requests):
            holds = self.kind.holds[role]
            for i in self.kind.eligible[role][leaf]:
                if fits(free[i], request) < (1 if one else holds[i]):
                    nodes.add(i)
        return sorted(nodes)

    def in_the_way(self, leaf: int) -> frozenset[str]:
        """Gangs and lone pods that hold room which the gang could use in a leaf."""
        known = self._in_the_way.get(leaf)
        if known is None:
            known = self._in_the_way[leaf] = frozenset(
                holder.ends for i in self.blocked(leaf) for holder in self.holders(i)
            )
        return known

    def near(
        self, reach: SpotReach, place: ReachedCandidate
    ) -> tuple[tuple[NearMiss, ...], tuple[str, ...] | None]:
        """The place leaf by leaf, and the gangs whose end would clear it; `None`: not enough."""
        misses = []
        ends: list[str] = []
        clear = True
        only_short = len(place.parts) > MOST_LEAVES
        unit = "pods" if shares_nodes(self.group) else "nodes"
        for part in place.parts:
            free, needed = reach.pods(part.leaves, part.counts), sum(part.counts)
            shown: list[tuple[str, str]] = []
            if free < needed:
                chosen = self._clear(part, needed, ends)
                clear = clear and chosen is not None
                for node, pods in chosen or []:
                    name = self.context.fabric.nodes[node].name
                    shown += dict.fromkeys((name, holder.ends) for holder in pods)
            elif only_short:
                continue
            holders = tuple(dict.fromkeys(shown))[:MOST_SHOWN]
            misses.append(NearMiss(part.name, free, needed, unit, holders))
        return tuple(misses[:MOST_LEAVES]), tuple(ends) if clear else None

    def _clear(
        self, part: LeafPart, needed: int, ends: list[str]
    ) -> list[tuple[int, list[Holder]]] | None:
        """Pods to wait for, node by node, until the part holds its pods; adds to `ends`."""
        nodes = [i for leaf in part.leaves for i in self.context.fabric.in_leaf[leaf]]
        blocked = [i for leaf in part.leaves for i in self.blocked(leaf)]
        free = {i: self.context.after.free[i] for i in nodes}
        held: dict[int, dict[str, list[Holder]]] = {}
        for i in blocked:
            for holder in self.holders(i):
                held.setdefault(i, {}).setdefault(holder.ends, []).append(holder)
        chosen: dict[int, list[Holder]] = {}
        while seated(self.kind, nodes, part.counts, free, self.group.bound_nodes) < needed:
            step = self._cheapest(held, free, ends, needed)
            if step is None:
                return None
            node, names = step
            for name in names:
                pods = held[node].pop(name)
                chosen.setdefault(node, []).extend(pods)
                free[node] = _given_back(free[node], pods)
                if name not in ends:
                    ends.append(name)
        return list(chosen.items())

    def _cheapest(
        self,
        held: dict[int, dict[str, list[Holder]]],
        free: dict[int, Resources],
        ends: list[str],
        needed: int,
    ) -> tuple[int, tuple[str, ...]] | None:
        """The node to clear next: fewest further gangs, most pods gained, most of one gang."""
        often = Counter(name for gangs in held.values() for name in gangs)
        best: tuple[tuple[int, int, int, int, tuple[str, ...]], int] | None = None
        for node, gangs in held.items():
            choices: list[tuple[str, ...]] = [(name,) for name in gangs]
            if len(gangs) > 1:
                choices.append(tuple(gangs))
            for names in choices:
                pods = [holder for name in names for holder in gangs[name]]
                gain = self._holds(_given_back(free[node], pods)) - self._holds(free[node])
                if gain <= 0:
                    continue
                further = sum(name not in ends for name in names)
                rank = (further, -min(gain, needed), -often[names[0]], node, names)
                if best is None or rank < best[0]:
                    best = (rank, node)
        return None if best is None else (best[1], best[0][4])

    def _holds(self, free: Resources) -> int:
        counts = [fits(free, request) for request in self.kind.requests]
        return sum(min(1, n) for n in counts) if self.kind.key.one_per_node else sum(counts)


def _given_back(free: Resources, pods: list[Holder]) -> Resources:
    for holder in pods:
        devices = free.devices and free.devices.back(holder.devices)
        free = replace(plus_back(free, holder.request), devices=devices)
    return free


def plus_back(free: Resources, request: Resources) -> Resources:
    """`free` once a pod that asks for `request` has ended; unstated amounts stay unstated."""
    total = plus(free, request)
    return Resources(
        total.gpus,
        None if free.cpu is None else total.cpu,
        None if free.memory is None else total.memory,
        total.pods,
        tuple((name, n) for name, n in total.extra if any(name == key for key, _ in free.extra)),
    )


def shares_nodes(group: GangGroup) -> bool:
    """Whether the gang is counted in pods, as several of them may share a node."""
    return group.kind.shares_nodes and not group.kind.key.one_per_node


def of_one_that_runs(reason: Reason) -> Reason:
    """The reason as a gang is told of which members run: it does not start, it becomes whole."""
    steps = tuple(
        f"{WHOLE_WHEN}{step.removeprefix(STARTS_WHEN)}" if step.startswith(STARTS_WHEN) else step
        for step in reason.unblock
    )
    return replace(reason, unblock=steps)


def ending(ends: tuple[str, ...]) -> tuple[str, ...]:
    """The advice to wait for these gangs, none where there are none."""
    if not ends:
        return ()
    if len(ends) == 1:
        return (f"{STARTS_WHEN}{ends[0]} ends",)
    if len(ends) == 2:
        return (f"{STARTS_WHEN}{ends[0]} and {ends[1]} end",)
    return (f"{STARTS_WHEN}{ends[0]}, {ends[1]} and {len(ends) - 2} more end",)
