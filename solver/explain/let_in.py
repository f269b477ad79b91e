"""Whether nodes that one thing alone leaves out would give a gang a place, and which of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from fourleaf.model.gang import Gang
from fourleaf.model.node import Node
from fourleaf.model.reasons.kinds import NearMiss
from fourleaf.model.reasons.text import CORDON, NO_READINESS, SEAL, TAINTED
from fourleaf.model.resources import fits
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.blockers import STARTS_WHEN, WHOLE_WHEN, shares_nodes
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.free_room import FreeRoom, Seats
from fourleaf.solver.explain.left_out import LeftOut
from fourleaf.solver.explain.no_room_now import NoRoomNow
from fourleaf.solver.explain.own_taints import made_ready, uncordoned, unsealed
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_classes import GangGroup, GangGroups

MOST_ASKED = 32
"""For so many kinds of gang, times what leaves nodes out, a place is looked for: each takes as long
as a question of its own."""
MOST_TRIED = 64
"""Places of a gang that are tried with nodes let in, those with most room without them first."""
MOST_TAINTS = 3
"""Taints that are tried, those of most nodes first."""


@dataclass(frozen=True, slots=True)
class LetIn:
    """What would give a gang a place: the step, and the place as it is without it.

    `is_of_service`: it is for those who run the nodes, and the gang asks for nothing else.
    """

    step: str
    near: tuple[NearMiss, ...]
    is_of_service: bool


class Doors:
    """Asks what a plan would leave for a gang if nodes were let in."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._asked = 0
        self._worlds: dict[tuple[str, frozenset[str]], Context] = {}

    def let_in(self, gang: Gang, left_out: LeftOut) -> tuple[LetIn, ...]:
        """What each of the things that leave nodes out would do if it alone were gone."""
        taints = [name for name in left_out if name.startswith(TAINTED)]
        tried = [name for name in left_out if name not in taints[MOST_TAINTS:]]
        found = (self._without(name, left_out[name], gang) for name in tried)
        return tuple(one for one in found if one is not None)

    def once_free(self, gang: Gang, left_out: LeftOut) -> tuple[LetIn, ...]:
        """The nodes that would make a gang of which members run whole, once others leave them.

        A member that was lost may take its time to end where it was.
        """
        doors = ((what, nodes) for what, nodes in left_out.items() if not what.startswith(TAINTED))
        found = (self._once_free(what, nodes, gang) for what, nodes in doors)
        return tuple(one for one in found if one is not None)

    def _once_free(self, what: str, nodes: list[int], gang: Gang) -> LetIn | None:
        if self._asked >= MOST_ASKED:
            return None
        self._asked += 1
        world = self._world(what, nodes)
        group = world.factory.of(gang)
        seats = self._fewest(world.but_for(gang), group, frozenset(nodes))
        used = {i for members in seats or () for i in members}.intersection(nodes)
        if seats is None or not used:
            return None
        world = self._world(what, used)
        group = world.factory.of(gang)
        if not world.but_for(gang).finds(group):
            return None
        steps = NoRoomNow(world, group).reason(gang).unblock
        ends = [one.removeprefix(STARTS_WHEN) for one in steps if one.startswith(STARTS_WHEN)]
        holders = (one.ends for i in used for one in self.context.holders.on(i))
        if not ends and str(gang.key) not in holders:
            return None
        then = ends[0] if ends else "its own pods there have ended"
        step = _step(what, [self.context.fabric.nodes[i].name for i in sorted(used)])
        near = self._near(seats, used, "pods" if shares_nodes(group) else "nodes")
        return LetIn(f"{step}, and then {WHOLE_WHEN}{then}", near, True)

    def _without(self, what: str, nodes: list[int], gang: Gang) -> LetIn | None:
        if self._asked >= MOST_ASKED or not self._are_enough(nodes, gang):
            return None
        self._asked += 1
        world = self._world(what, nodes)
        group = world.factory.of(gang)
        seats = self._fewest(world.after, group, frozenset(nodes))
        if seats is None:
            return None
        used = {i for members in seats for i in members}.intersection(nodes)
        if not used:
            return None
        if len(used) < len(nodes) and not what.startswith(TAINTED):
            # Fewer nodes let in may have other legal places.
            world = self._world(what, used)
            if not world.after.finds(world.factory.of(gang)):
                used = set(nodes)
        step = _step(what, [self.context.fabric.nodes[i].name for i in sorted(used)])
        near = self._near(seats, used, "pods" if shares_nodes(group) else "nodes")
        return LetIn(step, near, not what.startswith(TAINTED))

    def _are_enough(self, nodes: list[int], gang: Gang) -> bool:
        """Whether they and what is free hold each role, all in a part of the fabric that may do."""
        after, fabric = self.context.after, self.context.fabric
        group = self.context.factory.of(gang)
        room = [list(row) for row in after.room(group.kind)]
        for row, request in zip(room, group.kind.requests, strict=True):
            for i in nodes:
                n = fits(after.free[i], request)
                row[fabric.leaf_of[i]] += min(1, n) if group.kind.key.one_per_node else n
        return any(
            all(
                sum([row[leaf] for leaf in leaves]) >= len(role.pods)
                for role, row in zip(gang.roles, room, strict=True)
            )
            for leaves in _parts(group)
        )

    def _world(self, what: str, nodes: Iterable[int]) -> Context:
        """The plan on the fabric where that alone keeps no gang off these nodes."""
        context = self.context
        names = frozenset(context.fabric.nodes[i].name for i in nodes)
        key = what, names
        if key not in self._worlds:
            change = _change(what)
            fabric = context.snapshot.fabric.with_nodes(
                lambda node: change(node) if node.name in names else node
            )
            extensions = context.fabric.extensions
            self._worlds[key] = Context(
                replace(context.snapshot, fabric=fabric),
                replace(context.plan, moves=()),
                extensions,
                GangGroups(FabricIndex(fabric, context.spec, extensions)),
            )
        return self._worlds[key]

    def _fewest(self, room: FreeRoom, group: GangGroup, nodes: frozenset[int]) -> Seats | None:
        """Seats of the gang, on as few of `nodes` as any of the likeliest places needs."""
        without = self.context.after.room(self.context.factory.of(group.gang).kind)
        best: Seats | None = None
        fewest = len(nodes) + 1
        for seats in room.seats(group, without, nodes, MOST_TRIED):
            used = len({i for members in seats for i in members} & nodes)
            if used < fewest:
                best, fewest = seats, used
        return best

    def _near(self, seats: Seats, used: set[int], unit: str) -> tuple[NearMiss, ...]:
        """The leaves of the place that need nodes let in, with what is free there without."""
        fabric = self.context.fabric
        needed = Counter(fabric.leaf_of[i] for members in seats for i in members)
        missing = Counter(fabric.leaf_of[i] for members in seats for i in members if i in used)
        return tuple(
            NearMiss(fabric.leaves[leaf].name, needed[leaf] - short, needed[leaf], unit)
            for leaf, short in sorted(missing.items())
        )


def _parts(group: GangGroup) -> list[tuple[int, ...]]:
    """Leaves of which one set holds the whole gang: single ones, those of a spine, or all.

    With more nodes no gang needs more leaves or spines than without.
    """
    fabric = group.candidates.fabric
    if group.in_one_leaf:
        return [(leaf,) for leaf in range(len(fabric.leaves))]
    if group.loose or any(place.spines == 1 for place in group.candidates.required):
        return list(fabric.spine_leaves)
    return [tuple(range(len(fabric.leaves)))]


def _change(what: str) -> Callable[[Node], Node]:
    if what == CORDON:
        return uncordoned
    if what == NO_READINESS:
        return made_ready
    if what == SEAL:
        return unsealed
    names = set(what.removeprefix(TAINTED).split(" and "))

    def bare(node: Node) -> Node:
        left = (one for one in node.taints if matching_advice.taint_name(one) not in names)
        return replace(node, taints=tuple(left))

    return bare


def _step(what: str, names: list[str]) -> str:
    if what == CORDON:
        return f"uncordon {matching_advice.named(names)}"
    if what == NO_READINESS:
        return f"bring {matching_advice.named(names)} back to ready"
    if what == SEAL:
        return matching_advice.unseal_step(names)
    taints = what.removeprefix(TAINTED)
    return f"tolerate taint{'s' if ' and ' in taints else ''} {taints}"
