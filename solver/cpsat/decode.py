"""From counts to gangs, from leaves to nodes, in rank order, always the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fourleaf.model.gang import Gang
from fourleaf.model.resources import Resources, free_devices
from fourleaf.solver.cpsat.demand import NodeClass
from fourleaf.solver.cpsat.residents import Resident
from fourleaf.solver.cpsat.variables import GroupVariables, Model, SpreadRows
from fourleaf.solver.instance.amount_cache import AmountCache
from fourleaf.solver.instance.candidates import Candidate
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts


@dataclass(slots=True)
class PlacedGang:
    """One gang on nodes: for each role the node of each unbound pod, in rank order."""

    gang: Gang
    group: GangGroup
    nodes: list[list[int]]


@dataclass(slots=True)
class Decoded:
    """All gangs on nodes; `misfits` are leaves where the counts cannot be packed as found.

    Where it is only that more pods of a spread set share nodes there than the rows say, there are
    `gangs` all the same, and `lost` is what they are worth less.
    """

    gangs: list[PlacedGang] = field(default_factory=list)
    misfits: frozenset[int] = frozenset()
    lost: int = 0


def decode(model: Model, values: list[int], placed: dict[tuple[int, int], list[Gang]]) -> Decoded:
    """Put gangs where `values` say: those `placed` by (group, gang class), else all of it."""
    chosen = [_chosen(variables, values) for variables in model.groups]
    packing = _Packing(model, values)
    failed = packing.pack(chosen)
    if failed:
        return Decoded(misfits=failed)
    crowded, lost = packing.crowded()
    out = Decoded(misfits=crowded, lost=lost)
    rooms = _rooms(model, values)
    for position, variables in enumerate(model.groups):
        group = variables.group
        host = position if variables.room_of is None else variables.room_of
        by_class = rooms.get(position) or _takes(model, variables, values, chosen[position])
        for number, takes_of in enumerate(by_class):
            gang_class = group.gang_classes[number]
            gangs = gang_class.gangs * len(takes_of) if group.phantom else gang_class.gangs
            for gang, takes in zip(placed.get((position, number), gangs), takes_of, strict=False):
                nodes: list[list[int]] = [[] for _ in group.roles]
                for leaf, counts in takes:
                    for role, count in enumerate(counts):
                        stock = packing.slots[_Slot(host, role, leaf)]
                        nodes[role] += _draw(stock, count, group.kind.key.one_per_node)
                out.gangs.append(PlacedGang(gang, group, nodes))
    return out


def misfits(model: Model, values: list[int]) -> frozenset[int]:
    """Leaves where the numbers of pods obey the rows but cannot be packed as found.

    All leaves are looked at but those that are modelled node by node: where gangs may stay, a class
    may be part of another one, whose pods take what this one was to have.
    """
    chosen = [_chosen(variables, values) for variables in model.groups]
    return _Packing(model, values).pack(chosen) - model.refined


def staying(model: Model, values: list[int]) -> list[Resident]:
    """The gangs that stay where they are."""
    return [one for keep in model.keeps for one in keep.residents[: values[keep.variable]]]


class _Slot(NamedTuple):
    """A role of the group at a position, in one leaf."""

    group: int
    role: int
    leaf: int


class _PodsOf(NamedTuple):
    """So many pods of a slot in one node class."""

    slot: _Slot
    pods: int


def _draw(stock: list[int], count: int, one_per_node: bool) -> list[int]:
    """Take nodes for so many pods of one gang out of `stock`, in node order."""
    if one_per_node:
        taken = list(dict.fromkeys(stock))[:count]
        for node in taken:
            stock.remove(node)
        return taken
    taken = stock[:count]
    del stock[:count]
    return taken


def _chosen(variables: GroupVariables, values: list[int]) -> list[list[tuple[Candidate, int]]]:
    """By class, the places where the values put gangs of the group, and how many."""
    return [
        [
            (place, values[variable])
            for place, variable in candidate_class.places
            if values[variable]
        ]
        for candidate_class in variables.classes
    ]


def _takes(
    model: Model,
    variables: GroupVariables,
    values: list[int],
    chosen: list[list[tuple[Candidate, int]]],
) -> list[list[list[tuple[int, Counts]]]]:
    """By gang class, for each gang that the values place, its new pods by leaf in rank order."""
    group = variables.group
    out: list[list[list[tuple[int, Counts]]]] = [[] for _ in group.gang_classes]
    shared = {id(one): flows for flows in variables.shared for one in flows.classes}
    unflowed: dict[int, list[list[tuple[int, Counts]]]] = defaultdict(list)
    for candidate_class, here in zip(variables.classes, chosen, strict=True):
        places = [
            [(leaf, group.new_pods(leaf, counts)) for leaf, counts in place.takes]
            for place, gangs in here
            for _ in range(gangs)
        ]
        if len(group.gang_classes) == 1:
            out[0] += places
        places = _flow(candidate_class.flows, values, places, out)
        if places and id(candidate_class) in shared:
            unflowed[id(shared[id(candidate_class)])] += places
    for flows in variables.shared:
        _flow(flows.flows, values, unflowed[id(flows)], out)
    if group.by_take:
        if any(values[variable] for _, variable in variables.spines):
            out[0].append(
                [
                    (leaf, group.new_pods(leaf, counts))
                    for leaf, counts, variable in variables.takes
                    if values[variable]
                ]
            )
        return out
    for spine, variable in variables.spines:
        out[0] += _deal(model, variables, values, spine, values[variable])
    return out


def _flow(
    flows: Mapping[int, int],
    values: list[int],
    places: list[list[tuple[int, Counts]]],
    out: list[list[list[tuple[int, Counts]]]],
) -> list[list[tuple[int, Counts]]]:
    """Give every gang class as many of the places as flow there; the places that are left."""
    at = 0
    for gang_class, flow in flows.items():
        out[gang_class] += places[at : at + values[flow]]
        at += values[flow]
    return places[at:]


def _rooms(model: Model, values: list[int]) -> dict[int, list[list[list[tuple[int, Counts]]]]]:
    """By position, the leaves that phantoms take of the room that they share in a spine."""
    left: dict[int, int] = {}
    out: dict[int, list[list[list[tuple[int, Counts]]]]] = {}
    for position, variables in enumerate(model.groups):
        if variables.room_of is None:
            continue
        if position == variables.room_of:
            left = {
                leaf: sum([c * values[v] for c, v in terms])
                for (_, leaf), terms in variables.pods.items()
            }
        out[position] = [[]]
        for spine, variable in variables.spines:
            for _ in range(values[variable]):
                missing, takes = variables.group.kind.sizes[0], list[tuple[int, Counts]]()
                for leaf in model.state.fabric.spine_leaves[spine]:
                    n = min(missing, left.get(leaf, 0))
                    if n:
                        takes.append((leaf, (n,)))
                        left[leaf] -= n
                        missing -= n
                out[position][0].append(takes)
    return out


def _deal(
    model: Model, variables: GroupVariables, values: list[int], spine: int, gangs: int
) -> list[list[tuple[int, Counts]]]:
    """Share out the pods of equal loose gangs of a spine, no leaf beyond what it could hold.

    Leaves with most pods per gang left go first, so that no gang exceeds a leaf's capacity.
    """
    size = variables.group.kind.sizes[0]
    left = {
        leaf: sum(c * values[v] for c, v in terms)
        for (_, leaf), terms in variables.pods.items()
        if model.state.fabric.spine_of[leaf] == spine
    }
    capacity = variables.group.kind.capacity
    out: list[list[tuple[int, Counts]]] = []
    for remaining in range(gangs, 0, -1):
        takes = {leaf: max(0, n - (remaining - 1) * capacity[leaf]) for leaf, n in left.items()}
        missing = size - sum(takes.values())
        for leaf, n in left.items():
            more = min(missing, n - takes[leaf], capacity[leaf] - takes[leaf])
            takes[leaf] += more
            missing -= more
        for leaf, n in takes.items():
            left[leaf] -= n
        out.append([(leaf, (n,)) for leaf, n in takes.items() if n])
    return out


class _Packing:
    """Puts the pods of each node class on its nodes; `slots` are the nodes that pods get."""

    def __init__(self, model: Model, values: list[int]) -> None:
        self.slots: dict[_Slot, list[int]] = defaultdict(list)
        self._model = model
        self._values = values
        self._rest = AmountCache()
        self._left: dict[int, Resources] = {}
        self._pinned: dict[int, list[Resources]] = defaultdict(list)
        self._spread_of = {id(v): spread for spread in model.spreads for v in spread.groups}
        self._crowds: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        """By the identity of a spread, node -> its pods there."""
        for resident in staying(model, values):
            for node, request, pods in resident.seats:
                self._pinned[node] += [request] * pods

    def pack(self, chosen: list[list[list[tuple[Candidate, int]]]]) -> frozenset[int]:
        """Fill `slots`, in node order; the leaves that failed."""
        asked: dict[NodeClass, list[_PodsOf]] = defaultdict(list)
        values = self._values
        for position, variables in enumerate(self._model.groups):
            for leaf in _touched(variables, chosen[position]):
                for role in variables.group.roles:
                    for node_class, terms in variables.node_classes.get((role, leaf), ()):
                        pods = sum([c * values[v] for c, v in terms])
                        if pods:
                            asked[node_class].append(_PodsOf(_Slot(position, role, leaf), pods))
        # A class may be part of another one: pods that prefer its nodes go first.
        classes = sorted(asked, key=lambda one: len(one.nodes))
        failed = {one.leaf for one in classes if not self._pack_class(one, asked[one])}
        for nodes in self.slots.values():
            nodes.sort()
        return frozenset(failed)

    def crowded(self) -> tuple[frozenset[int], int]:
        """The leaves in which more pods share nodes than the rows say, and the points lost so."""
        failed, lost = set(), 0
        leaf_of = self._model.state.fabric.leaf_of
        for spread in self._model.spreads:
            found: dict[int, int] = defaultdict(int)
            for node, pods in self._crowds[id(spread)].items():
                found[leaf_of[node]] += max(0, pods - spread.of.room_on(node))
            for leaf, excess in found.items():
                said = sum([self._values[variable] for variable in spread.excess.get(leaf, ())])
                if excess > said and leaf not in self._model.refined:
                    failed.add(leaf)
                    lost += spread.of.points * (excess - said)
        return frozenset(failed), lost

    def _pack_class(self, node_class: NodeClass, asked: list[_PodsOf]) -> bool:
        """Largest requests first, each pod where it leaves fewest GPUs; whether all found room."""
        if not self._find_devices(node_class, asked):
            return False
        rest, free = self._rest, {i: self._free_on(i) for i in node_class.nodes}
        stays: dict[_Slot, int] = {}
        for slot, _ in asked:
            variables = self._model.groups[slot.group]
            if variables.kept:
                kept = _kept(variables, self._values, slot, node_class)
                stays[slot] = len(kept)
                for node in kept:
                    free[node] = rest.after(free[node], self._request(slot))
                self.slots[slot] += kept
        asked = [one._replace(pods=one.pods - stays.get(one.slot, 0)) for one in asked]
        apart = any(self._spread(slot) is not None for slot, _ in asked)
        # Where some stand apart, others may find no room: then they have to stand together.
        if apart and self._hand_out(dict(free), asked, apart=True):
            return True
        return self._hand_out(free, asked, apart=False)

    def _hand_out(self, free: dict[int, Resources], asked: list[_PodsOf], apart: bool) -> bool:
        """Give pods the nodes of `free`, those of spread sets `apart`; whether all found room."""
        phantoms_on: set[int] = set()
        given: list[tuple[_Slot, list[int]]] = []
        for slot, left in sorted(asked, key=self._order):
            phantom = self._model.groups[slot.group].group.phantom
            barred = phantoms_on if phantom else set()
            each = 1 if phantom else left
            nodes = self._keep_apart(free, slot, left) if apart else []
            more, request = left - len(nodes), self._request(slot)
            nodes += _fill(free, request, more, self._rest, barred, each)
            given.append((slot, nodes))
            self._count(slot, nodes, 1)
            if len(nodes) < left:
                for other, taken in given:
                    self._count(other, taken, -1)
                return False
            if phantom:
                phantoms_on.update(nodes)
        for slot, nodes in given:
            self.slots[slot] += nodes
        self._left.update(free)
        return True

    def _spread(self, slot: _Slot) -> SpreadRows | None:
        """What is kept apart of the group of a slot."""
        return self._spread_of.get(id(self._model.groups[slot.group]))

    def _keep_apart(self, free: dict[int, Resources], slot: _Slot, pods: int) -> list[int]:
        """Nodes for as many of the pods of a spread set as the nodes hold for nothing."""
        spread = self._spread(slot)
        if spread is None:
            return []
        crowd, taken = self._crowds[id(spread)], list[int]()
        request = self._request(slot)
        for _, node in sorted([(amount.gpus, i) for i, amount in free.items()]):
            room = max(0, spread.of.room_on(node) - crowd[node])
            for _ in range(min(pods - len(taken), room, self._rest.fits(free[node], request))):
                free[node] = self._rest.after(free[node], request)
                taken.append(node)
        return taken

    def _count(self, slot: _Slot, nodes: list[int], times: int) -> None:
        spread = self._spread(slot)
        if spread is not None:
            for node in nodes:
                self._crowds[id(spread)][node] += times

    def _free_on(self, node: int) -> Resources:
        """What is left on a node by what has been packed so far."""
        left = self._left.get(node)
        if left is None:
            left = self._model.state.free[node]
            for request in self._pinned.get(node, ()):
                left = self._rest.after(left, request)
        return left

    def _request(self, slot: _Slot) -> Resources:
        return self._model.groups[slot.group].group.kind.requests[slot.role]

    def _order(self, one: _PodsOf) -> tuple[bool, int, int, int, _PodsOf]:
        """Phantoms last, else the largest request first."""
        asked, phantom = self._request(one.slot), self._model.groups[one.slot.group].group.phantom
        return (phantom, -asked.gpus, -(asked.cpu or 0), -(asked.memory or 0), one)

    def _find_devices(self, node_class: NodeClass, asked: list[_PodsOf]) -> bool:
        """Whether all pods find devices, where some demand more of them than their number.

        The class is one node then. Among gangs that stand it is left to the commit, which knows
        the devices that they have.
        """
        model = self._model
        if not model.state.snapshot.demanding:
            return True
        requests = [self._request(slot) for slot, pods in asked for _ in range(pods)]
        stands = any(model.groups[s.group].group.current_seats is not None for s, _ in asked)
        if stands or model.keeps or all(request.wants is None for request in requests):
            return True
        asks = [(request.gpus, request.wants) for request in requests]
        return free_devices(model.state.free[node_class.node]).shared_out(asks) is not None


def _touched(variables: GroupVariables, chosen: list[list[tuple[Candidate, int]]]) -> list[int]:
    """Leaves where pods of the group are placed, each once."""
    touched = {leaf: None for here in chosen for place, _ in here for leaf, _ in place.takes}
    if variables.spines:
        touched.update(dict.fromkeys(leaf for _, leaf in variables.pods))
    return list(touched)


def _fill(
    free: dict[int, Resources],
    asked: Resources,
    pods: int,
    rest: AmountCache,
    barred: Collection[int],
    each: int,
) -> list[int]:
    """Take a node for each of the pods, at most `each` of one node, none of those `barred`.

    A node that takes a pod has fewest GPUs afterwards too, so it is filled before the next.
    """
    taken: list[int] = []
    for _, node in sorted([(amount.gpus, i) for i, amount in free.items()]):
        if len(taken) == pods:
            break
        if node not in barred:
            for _ in range(min(pods - len(taken), rest.fits(free[node], asked), each)):
                free[node] = rest.after(free[node], asked)
                taken.append(node)
    return taken


def _kept(
    variables: GroupVariables, values: list[int], slot: _Slot, node_class: NodeClass
) -> list[int]:
    """The seats in the node class where members of a group that stands stay."""
    for here, seats, terms in variables.kept.get((slot.role, slot.leaf), ()):
        if here is node_class:
            nodes = [node for node, pods in sorted(seats.items()) for _ in range(pods)]
            return nodes[: sum([c * values[v] for c, v in terms])]
    return []
