"""Gangs that may stand at the same places, counted together.

A *gang class* is a set of gangs that are alike in all that matters to a solve. For "who" that
is where they may go: priority and age decide whether, never where. For "where" it is also
what a place is worth to them. A *group* joins gang classes whose pods are the same and which
differ only in which candidates they may use or prefer; its integers count gangs per
candidate whatever their gang class, and a few flows say which gang class takes which candidates.

`CurrentSeats` says where the live members of a gang are, of which some may stay while others go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fourleaf.model.config.spec import Spec
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, OwnerKey, Replicas, TopologyPolicy, owner_key, set_key
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.instance.candidates import Candidate, Candidates
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_type import Counts, GangType, GangTypes
from fourleaf.solver.instance.preferred_nodes import profiles_of


@dataclass(eq=False, slots=True)
class GangClass:
    """Gangs alike in all that matters, in the order given, and where they may stand."""

    gangs: list[Gang]
    kind: GangType
    candidates: Candidates


@dataclass(eq=False, slots=True)
class GangGroup:
    """Gang classes placed by the same integers.

    `most` bounds the gangs placed. `loose`: the gangs may use any leaves of a spine;
    `by_take`: their pods per leaf are chosen among the numbers the leaf could hold.
    `careful`: pods share nodes while a law counts nodes, so each node needs a variable.
    `phantom`: room worth keeping, not gangs. `bound` holds the members that run already,
    by leaf (-1: outside the fabric, two on a node that one may use, or on more nodes of a leaf than
    a gang may have). `stand` is where the
    members live that may stay or go, all of them counting as still to be placed. `within` are
    the spines that it may use, where it may not use all. Careful, by-take, bound and standing
    groups and those within spines hold one gang.
    """

    gang_classes: list[GangClass]
    most: int
    loose: bool = False
    by_take: bool = False
    careful: bool = False
    phantom: bool = False
    bound: dict[int, Counts] = field(default_factory=dict)
    bound_nodes: frozenset[int] = frozenset()
    current_seats: CurrentSeats | None = None
    within: frozenset[int] | None = None

    @property
    def kind(self) -> GangType:
        """The kind of the gang class that may use most nodes; the others' are part of it."""
        return self.gang_classes[0].kind

    @property
    def gang(self) -> Gang:
        """Any of the gangs: their pods are the same."""
        return self.gang_classes[0].gangs[0]

    def class_of(self, gang: Gang) -> GangClass:
        """The gang class of one of the gangs, this very object."""
        for gang_class in self.gang_classes:
            for member in gang_class.gangs:
                if member is gang:
                    return gang_class
        raise KeyError(gang.key)

    @property
    def candidates(self) -> Candidates:
        """The candidates of the first gang class."""
        return self.gang_classes[0].candidates

    @property
    def in_one_leaf(self) -> bool:
        """Whether its gangs are of one role, and all that each needs is room in one leaf."""
        return (
            not (self.loose or self.careful or self.bound)
            and len(self.kind.sizes) == 1
            and all(gang_class.candidates.of_one_leaf for gang_class in self.gang_classes)
        )

    @property
    def roles(self) -> range:
        """Positions of the roles."""
        return range(len(self.kind.sizes))

    def beyond_room(self, role: int, leaf: int) -> int:
        """Members that may stay in `leaf` although no node there would take them anew."""
        return 0 if self.current_seats is None else self.current_seats.extra.get((role, leaf), 0)

    def reaches(self, place: Candidate) -> bool:
        """Whether all leaves of a candidate lie in spines that the group may use."""
        spine_of = self.candidates.fabric.spine_of
        return self.within is None or all(spine_of[leaf] in self.within for leaf, _ in place.takes)

    def new_pods(self, leaf: int, counts: Counts) -> Counts:
        """Of the members in `leaf`, those that are still to be placed."""
        bound = self.bound.get(leaf)
        return counts if bound is None else tuple(a - b for a, b in zip(counts, bound, strict=True))

    def admits_bound(self, place: Candidate) -> bool:
        """Whether a candidate has a place for every bound member."""
        takes = dict(place.takes)
        return all(
            leaf in takes and all(a >= b for a, b in zip(takes[leaf], bound, strict=True))
            for leaf, bound in self.bound.items()
        )

    def fit_bound(self, place: Candidate, room: list[list[int]]) -> bool:
        """Whether a partly bound gang fits a candidate now, given the room by role and leaf."""
        return self.admits_bound(place) and all(
            count <= room[role][leaf]
            for leaf, counts in place.takes
            for role, count in enumerate(self.new_pods(leaf, counts))
        )

    def fit(self, place: Candidate, room: list[list[int]]) -> bool:
        """Whether one gang fits a candidate now, given the room by role and leaf."""
        if self.bound:
            return self.fit_bound(place, room)
        for leaf, counts in place.takes:
            for free, count in zip(room, counts, strict=True):
                if count > free[leaf]:
                    return False
        return True


MOST_KEPT = 1024
"""Gangs that are kept from one solve to the next, unless more than half as many are there at once:
a tenant could submit another kind each time, and each has a place for every node."""


class GangGroups:
    """Sorts gangs into groups; kinds and candidates are kept for later solves on the fabric."""

    def __init__(self, fabric: FabricIndex) -> None:
        self.fabric = fabric
        self.kinds = GangTypes(fabric)
        self._candidates: dict[tuple[GangType, TopologyPolicy], Candidates] = {}
        self._met: dict[int, tuple[Gang, GangType, Candidates]] = {}
        """Gangs of the current cycle by identity: "where" asks again for those of "who"."""

    @property
    def met(self) -> int:
        """How many gangs, or kinds of them, are kept, whichever is more."""
        return max(len(self._met), len(self.kinds))

    def forget_gangs(self, most: int) -> None:
        """Keep kinds and candidates alone where more than `most` gangs are kept."""
        if len(self._met) > most:
            self._met.clear()

    def known(self, gang: Gang) -> tuple[GangType, Candidates] | None:
        """Kind and candidates of a gang, None where they are still to be worked out."""
        kind = self.kinds.known(gang)
        if kind is None:
            return None
        candidates = self._candidates.get((kind, _policy(gang, kind)))
        return None if candidates is None else (kind, candidates)

    def for_who(self, gangs: Sequence[Gang]) -> list[GangGroup]:
        """Groups by what decides where a gang may go."""
        self._met.clear()
        return self._groups(gangs, _nothing, _nothing, loose_alone=False)

    def for_where(
        self, gangs: Sequence[Gang], replicas: Mapping[OwnerKey, Replicas] | None = None
    ) -> list[GangGroup]:
        """Groups by what decides where a gang may go and what a place is worth to it.

        Of `replicas`, those that a strategy keeps apart or together make groups of their own.
        """
        extensions = self.fabric.extensions
        if extensions.node_terms or extensions.leaf_terms:
            return self._groups(gangs, lambda gang: gang.key, _nothing, loose_alone=True)
        return self._groups(
            gangs,
            lambda gang: (
                gang.strategy,
                gang.latency_sensitive,
                profiles_of(gang, self.fabric),
                self._counted_with(gang, replicas or {}),
            ),
            lambda gang: gang.preferred_domain,
            loose_alone=True,
        )

    def _counted_with(self, gang: Gang, replicas: Mapping[OwnerKey, Replicas]) -> Hashable:
        """The pods with which those of `gang` are counted, where its strategy counts any."""
        settings = self.fabric.spec.strategy(gang.strategy)
        owner = owner_key(gang)
        if owner is None:
            apart = settings.spread and gang.size > 1 and self._whereabouts(gang)[0].shares_nodes
            return gang.key if apart else None
        several = owner in replicas and replicas[owner].total > 1
        return set_key(gang) if several and (settings.spread or settings.fewest_nodes) else None

    def candidates(self, kind: GangType, policy: TopologyPolicy) -> Candidates:
        """The candidates of a kind under a policy; large gangs have the same under both."""
        if kind.beyond_windows:
            policy = TopologyPolicy.PREFERRED
        key = (kind, policy)
        if key not in self._candidates:
            anew = None
            if kind.key.held:
                anew = self.candidates(self.kinds.without_held(kind), policy)
            self._candidates[key] = Candidates(self.fabric, kind, policy, anew)
        return self._candidates[key]

    def of(self, gang: Gang, loose_alone: bool = True) -> GangGroup:
        """The group of one gang alone."""
        kind, candidates = self._whereabouts(gang)
        group = GangGroup(
            [GangClass([gang], kind, candidates)], most=1, loose=bool(candidates.loose_spines)
        )
        for role, members in enumerate(gang.roles):
            for _, name in members.bound:
                self._add_bound(group, role, self.fabric.index.get(name, -1))
        group.careful = kind.careful
        group.by_take = group.loose and (
            loose_alone or len(kind.sizes) > 1 or bool(group.bound) or gang.bandwidth is not None
        )
        return group

    def _whereabouts(self, gang: Gang) -> tuple[GangType, Candidates]:
        met = self._met.get(id(gang))
        if met is None or met[0] is not gang:
            kind = self.kinds.of(gang)
            candidates = self.candidates(kind, _policy(gang, kind))
            met = self._met[id(gang)] = (gang, kind, candidates)
        return met[1], met[2]

    def _add_bound(self, group: GangGroup, role: int, node: int) -> None:
        leaf = self.fabric.leaf_of[node] if node >= 0 else -1
        beside = {one for one in group.bound_nodes if one >= 0 and self.fabric.leaf_of[one] == leaf}
        most = group.kind.max_nodes
        is_over = most is not None and len(beside | {node}) > most
        if is_over or (node in group.bound_nodes and group.kind.key.one_per_node):
            leaf = -1
        counts = list(group.bound.get(leaf, (0,) * len(group.kind.sizes)))
        counts[role] += 1
        group.bound[leaf] = tuple(counts)
        group.bound_nodes |= {node}

    def _groups(
        self,
        gangs: Sequence[Gang],
        worth: Callable[[Gang], Hashable],
        preference: Callable[[Gang], Hashable],
        loose_alone: bool,
    ) -> list[GangGroup]:
        gang_classes: dict[Hashable, GangClass] = {}
        families: dict[Hashable, list[GangClass]] = {}
        groups: list[GangGroup] = []
        for gang in gangs:
            kind, candidates = self._whereabouts(gang)
            if kind.careful or candidates.loose_spines or any(role.bound for role in gang.roles):
                group = self.of(gang, loose_alone)
                if group.careful or group.bound or group.by_take:
                    groups.append(group)
                    continue
            key = (kind, candidates, worth(gang), preference(gang))
            if key in gang_classes:
                gang_classes[key].gangs.append(gang)
                continue
            gang_class = gang_classes[key] = GangClass([gang], kind, candidates)
            pods = tuple((request, size) for request, _, size in kind.key.roles)
            alone = kind if candidates.loose_spines else None
            family = (pods, kind.key.one_per_node, gang.bandwidth, worth(gang), alone)
            families.setdefault(family, []).append(gang_class)
        for members in families.values():
            groups += _join(members)
        return groups


_latest: list[tuple[Fabric, Spec, Extensions, GangGroups]] = []


def gang_groups_for(snapshot: Snapshot, extensions: Extensions) -> GangGroups:
    """The factory for the snapshot's fabric and spec, kept from the last solve on the same.

    One that has met too many kinds makes room for a new one on the same index.
    """
    fabric, spec = snapshot.fabric, snapshot.config.spec
    index = None
    for known in _latest:
        if _is_for(known, snapshot) and known[2] == extensions:
            most = max(MOST_KEPT, 2 * len(snapshot.gangs))
            if len(known[3].kinds) <= most:
                known[3].forget_gangs(most)
                return known[3]
            index = known[3].fabric
    factory = GangGroups(index or FabricIndex(fabric, spec, extensions))
    _latest[:] = [(fabric, spec, extensions, factory)]
    return factory


def latest_gang_groups(snapshot: Snapshot) -> GangGroups | None:
    """The factory of the last solve in this process, None where it is of another fabric or spec."""
    return next((known[3] for known in _latest if _is_for(known, snapshot)), None)


def _is_for(known: tuple[Fabric, Spec, Extensions, GangGroups], snapshot: Snapshot) -> bool:
    spec = snapshot.config.spec
    return known[0] is snapshot.fabric and (known[1] is spec or known[1] == spec)


def _policy(gang: Gang, kind: GangType) -> TopologyPolicy:
    return gang.policy if sum(kind.sizes) > 1 else TopologyPolicy.REQUIRED


def _nothing(_: Gang) -> None:
    """Tells no gangs apart."""


def _join(gang_classes: list[GangClass]) -> list[GangGroup]:
    """Groups of gang classes whose eligible nodes in every leaf are those of the first, or none."""
    rest = sorted(gang_classes, key=lambda gang_class: -gang_class.kind.breadth)
    groups = []
    while rest:
        host = rest[0].kind
        joined = [gang_class for gang_class in rest if host.covers(gang_class.kind)]
        rest = [gang_class for gang_class in rest if gang_class not in joined]
        most = sum(len(gang_class.gangs) for gang_class in joined)
        groups.append(GangGroup(joined, most, loose=bool(joined[0].candidates.loose_spines)))
    return groups


def gang_order(gang: Gang) -> tuple[int, float, str, str]:
    """Highest priority first, then oldest, then by name."""
    return (-gang.priority, gang.created, gang.key.namespace, gang.key.name)


def dealt(gangs: Iterable[Gang]) -> list[Gang]:
    """Gangs without a hold in the order in which a batch takes them (docs/model.md, section 7).

    Of one priority, the first of each namespace, then the second of each, and so on: however
    many one namespace has, the others' come in.
    """
    turns: Counter[tuple[int, str]] = Counter()
    order: list[tuple[int, int, Gang]] = []
    for gang in sorted((one for one in gangs if one.hold is None), key=gang_order):
        queue = (gang.priority, gang.key.namespace)
        order.append((-gang.priority, turns[queue], gang))
        turns[queue] += 1
    order.sort(key=lambda one: one[:2])
    return [gang for _, _, gang in order]


Seats = Mapping[int, int]
"""Node -> members."""


@dataclass(frozen=True, slots=True, eq=False)
class CurrentSeats:
    """The seats of a gang by (role, leaf), and which places count for it.

    `places` are those of its legal candidates that are asked about. `extra` counts, by (role,
    leaf), the members on nodes that would not take them anew: they may stay there, and no
    room is counted for them.
    """

    seats: Mapping[tuple[int, int], Seats]
    places: tuple[Candidate, ...] = ()
    extra: Mapping[tuple[int, int], int] = field(default_factory=dict)
