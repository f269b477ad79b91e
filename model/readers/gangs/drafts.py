"""From pods to gangs: who starts together, in which roles, and what holds them back."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from fourleaf.model.config.spec import Spec
from fourleaf.model.gang import Gang, GangKey, Hold, Role, TopologyPolicy
from fourleaf.model.node_constraint import HOSTNAME, NodeConstraint
from fourleaf.model.readers.gangs.dialects import Dialect
from fourleaf.model.readers.gangs.durations import duration_of
from fourleaf.model.readers.gangs.holds import (
    hold_of,
    invalid,
    refuse_disagreement,
    refuse_other_size,
    refuse_strangers,
    refuse_surplus,
    share_gpus,
    too_many_conditions,
)
from fourleaf.model.readers.gangs.likeness import HeldBack, Likeness, Narrowed, Steps
from fourleaf.model.readers.gangs.members_apart import members_apart
from fourleaf.model.readers.gangs.minimum_size import MinimumSizes, Need
from fourleaf.model.readers.gangs.names import GangNames, Identity, key_of_one
from fourleaf.model.readers.objects.annotations import stated_strategy
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.timestamps import pod_bound_at
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.readers.pods.preferences import NO_PREFERENCES, PodPreferences
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.topology import NaturalKey, natural_key

MOST_PREFERENCE_SETS_PER_GANG = 4
"""Sets of preferences that count among the pods of one gang: each makes a role of its own."""

NO_REPLICAS = frozenset({"Job", "Node", "DaemonSet"})
"""Owners whose single pods are no replicas: a Job has one to run, the others one for each node."""

_Alike = tuple[Resources, NodeConstraint, PodPreferences]
"""What members of one role have in common."""


@dataclass(slots=True, eq=False)
class Draft:
    """A gang in the making: the gang and the pods behind it.

    `as_read` is the gang without what other gangs do to it. `holder` is the object that states its
    size, None where the pods themselves do. `order` is its place among all in natural order.
    `minds_others`: where other pods are decides where a member may go; `prefers_by_others`: which
    nodes it prefers. `is_exclusive`: a member has a volume that no second pod may use meanwhile.
    `has_too_many_preferences`: these do not count. `concerns_others`: more than the gang itself
    decides about it, or may have to be told of it. `is_plain`: one pod, to which others only take
    nodes or turns; it has a `kind`. `narrowed`, `held_back` and `unpreferring` are what became of
    it so in the last reading.
    """

    gang: Gang
    identity: Identity
    waiting: tuple[Pod, ...]
    bound: tuple[Pod, ...] = ()
    holder: Manifest | None = None
    has_too_many_preferences: bool = False
    as_read: Gang = field(init=False)
    order: tuple[NaturalKey, NaturalKey] = field(init=False)
    minds_others: bool = field(init=False)
    prefers: bool = field(init=False)
    prefers_by_others: bool = field(init=False)
    is_exclusive: bool = field(init=False)
    concerns_others: bool = field(init=False)
    is_plain: bool = field(init=False)
    likeness: Likeness | None = field(init=False, default=None)
    kind: Likeness | None = field(init=False, default=None)
    narrowed: Narrowed | None = field(init=False, default=None)
    held_back: HeldBack | None = field(init=False, default=None)
    unpreferring: tuple[Gang, Gang] | None = field(init=False, default=None)
    _kinds: Sequence[Sequence[Pod]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        key = self.gang.key
        self.as_read = self.gang
        self.order = natural_key(key.namespace), natural_key(key.name)
        self.minds_others = any(pod.wants.minds_others for pod in self.waiting)
        self.prefers = any(pod.wants.preferred is not NO_PREFERENCES for pod in self.waiting)
        self.prefers_by_others = not self.has_too_many_preferences and any(
            pod.wants.preferred.minds_others for pod in self.waiting
        )
        self.is_exclusive = any(pod.volumes.exclusive for pod in self.waiting)
        hold = self.gang.hold
        self.concerns_others = (
            self.prefers
            or self.is_exclusive
            or self.gang.preferred_domain is not None
            or self.gang.bandwidth is not None
            or any(pod.pinned for pod in self.waiting)
            or (hold is not None and hold.kind is ReasonKind.MEMBERS_MISSING)
        )

        self.is_plain = (
            len(self.waiting) == 1
            and not self.bound
            and not self.waiting[0].wants.near
            and not self.prefers_by_others
        )

    @property
    def kinds(self) -> Sequence[Sequence[Pod]]:
        """Waiting members of the same labels and wants together: they mind and are minded alike."""
        if self._kinds is None:
            found: dict[object, list[Pod]] = {}
            for pod in self.waiting:
                one = len(self.waiting) > 1 and (pod.wants, tuple(sorted(pod.labels.items())))
                found.setdefault(one, []).append(pod)
            self._kinds = tuple(found.values())
        return self._kinds

    def prefer_nothing(self) -> None:
        """Let the members prefer no nodes; the gang that comes of it is the same one each time."""
        if self.unpreferring is None or self.unpreferring[0] is not self.gang:
            roles = tuple(replace(role, preferences=()) for role in self.gang.roles)
            self.unpreferring = self.gang, replace(self.gang, roles=roles)
        self.gang = self.unpreferring[1]

    def remember_narrowed(self, before: Gang, steps: Steps) -> None:
        """The gang was `before`, and has become what it is by these steps."""
        self.narrowed = Narrowed(before, steps, self.gang)

    def take(self, gang: Gang) -> None:
        """Take `gang` as what was read of it."""
        self.gang = self.as_read = gang

    def begin_anew(self) -> None:
        """Let the gang be what was read of it, without what others have done to it."""
        self.gang = self.as_read

    @property
    def undated(self) -> bool:
        """Whether the gang counts as created now, because a member does not say when it was."""
        return any(pod.created is None for pod in self.waiting or self.bound)


@dataclass(frozen=True, slots=True)
class KeptPlaces:
    """Places that are kept for members of a gang, while these move: all of them start together.

    UIDs: `seats` of those who leave for the places, and `before` of all members that ran at that
    time. `nodes` are those of the places.
    """

    seats: frozenset[str]
    before: frozenset[str]
    nodes: frozenset[str]

    def left(self, bound: Iterable[Pod]) -> int:
        """How many members are to come for them, where these are `bound`."""
        there = {pod.uid: pod.node for pod in bound}
        came = sum(uid not in self.before and node in self.nodes for uid, node in there.items())
        return max(0, len(self.seats) - len(self.seats & there.keys()) - came)


class Gangs:
    """Decides what each gang may start with. `mixed` marks a fabric of several GPU resources.

    Places are `kept` for some gangs.
    """

    def __init__(
        self,
        spec: Spec,
        sizes: MinimumSizes,
        names: GangNames,
        mixed: bool,
        now: float,
        kept: Mapping[GangKey, KeptPlaces],
    ) -> None:
        self._spec = spec
        self._sizes = sizes
        self._names = names
        self._mixed = mixed
        self._now = now
        self._kept = kept

    def _is_ours(self, pod: Pod) -> bool:
        return pod.scheduler in self._spec.scheduler_names

    def drafts(self, identity: Identity, members: Sequence[Pod]) -> list[Draft]:
        """What there is to place of one gang, or what misses members; `members` by rank."""
        if not any(pod.waits or self._is_ours(pod) for pod in members if not pod.finished):
            return []
        namespace, dialect, name = identity
        live = [pod for pod in members if not pod.finished and not pod.terminating]
        waiting = [pod for pod in live if pod.waits and self._is_ours(pod)]
        bound = [pod for pod in live if pod.node]
        if not waiting and not any(self._is_ours(pod) for pod in bound):
            return []
        ended = _ended(members)
        need = self._sizes.of(dialect, namespace, name, [*waiting, *bound], ended)
        done = ended if need.counts_ended else 0
        if waiting:
            refuse_other_size(waiting, dialect, need)
            strangers = refuse_strangers(waiting[0], live, self._spec.scheduler_names)
            need = replace(need, hold=need.hold or strangers)
        present = len(waiting) + len(bound) + done
        self._share(waiting + bound, need.minimum or present)
        if need.basic:
            return [self._alone(identity, pod, need, None) for pod in waiting]
        minimum = present if need.minimum is None else need.minimum
        if need.exact and need.minimum is not None and present > minimum:
            need = replace(need, hold=refuse_surplus(waiting or bound, present, minimum))
        wanted = max(0, minimum - done - len(bound))
        # One that is gated may well be one of those that are not needed.
        waiting.sort(key=attrgetter("gated"))
        core, surplus = waiting[:wanted], waiting[wanted:]
        if need.entries:
            core, surplus, missing = _of_each_entry(waiting, bound, need)
            wanted = len(core) + missing
            present = minimum - missing if missing else present
        if need.hold is not None and need.minimum is None:
            core, surplus = waiting, []
        key = self._names.key_of(identity)
        if (kept := self._kept.get(key)) is not None:
            more = max(0, kept.left(bound) - len(core))
            core, surplus = [*core, *surplus[:more]], surplus[more:]
        drafts = []
        if core or wanted:
            ending = [one for one in members if one.terminating and one.node and not one.finished]
            hold = hold_of(core, bound, need, present, minimum, ending)
            drafts.append(self._draft(key, identity, core, bound, need, hold))
        advice = f"It is planned once gang {key} is bound."
        waits = Hold(ReasonKind.WAITS_FOR_GANG, f"gang {key} starts first", (), (advice,))
        drafts += [self._alone(identity, pod, need, waits if wanted else None) for pod in surplus]
        return drafts

    def _alone(self, identity: Identity, pod: Pod, need: Need, hold: Hold | None) -> Draft:
        key = key_of_one(self._names.key_of(identity), pod.name)
        hold = hold_of([pod], (), replace(need, minimum=1), 1, 1) or hold
        return self._draft(key, identity, [pod], [], need, hold)

    def standing(
        self, identity: Identity, members: Sequence[Pod], dead: Container[str]
    ) -> list[StandingGang]:
        """What stands of one gang if all on the nodes `dead` is lost; `members` by rank.

        A gang that misses members is left out: it is not known yet which will come in their place.
        """
        namespace, dialect, name = identity
        live = [pod for pod in members if not pod.finished and not pod.terminating]
        bound = [pod for pod in live if pod.node and pod.node not in dead]
        lost = [pod for pod in live if pod.node in dead or (pod.waits and self._is_ours(pod))]
        if not any(pod.node and self._is_ours(pod) for pod in live):
            return []
        ended = _ended(members)
        need = self._sizes.of(dialect, namespace, name, live, ended)
        done = ended if need.counts_ended else 0
        self._share(live, need.minimum or len(live) + done)
        key = self._names.key_of(identity)
        if need.basic:
            return [
                self._stands(
                    key_of_one(key, pod.name),
                    identity,
                    [pod] if pod in lost else [],
                    [pod] if pod in bound else [],
                    need,
                )
                for pod in live
                if pod in lost or pod in bound
            ]
        if need.hold is not None or len(live) + done < (need.minimum or 0):
            return []
        return [self._stands(key, identity, lost, bound, need)]

    def _stands(
        self, key: GangKey, identity: Identity, lost: list[Pod], bound: list[Pod], need: Need
    ) -> StandingGang:
        # Nothing that stands is moved for what it prefers.
        draft = self._draft(key, identity, lost, bound, need, None, prefers=False)
        first = (lost or bound)[0]
        wishes = first.wishes
        # Nothing makes up for a pod without an owner: what is evicted of it never comes back.
        usual = self._spec.repair.policy if first.owners.refs else RepairPolicy.PATCH
        return StandingGang(
            gang=draft.gang,
            movable=wishes.movable,
            move_cost=wishes.move_cost,
            policy=usual if wishes.repair is None else wishes.repair,
            started=max(map(self._bound_at, bound), default=0.0),
        )

    def _bound_at(self, pod: Pod) -> float:
        """When a pod was bound; what says nothing of it counts as durations do."""
        at = pod_bound_at(pod.manifest.body)
        if at is None:
            at = self._now if pod.phase == "Pending" else pod.created
        return at or 0.0

    def _draft(
        self,
        key: GangKey,
        identity: Identity,
        waiting: list[Pod],
        bound: list[Pod],
        need: Need,
        hold: Hold | None,
        prefers: bool = True,
    ) -> Draft:
        members = waiting or bound
        first = members[0]
        refuse_disagreement(first, members)
        wishes = first.wishes
        sets = {pod.wants.preferred for pod in (*waiting, *bound)}
        too_many = len(sets) > MOST_PREFERENCE_SETS_PER_GANG
        roles = self._roles(waiting, bound, prefers and not too_many)
        spread = any(
            term.key == HOSTNAME and term.picks(pod.namespace, pod.labels)
            for pod in waiting
            for term in pod.wants.apart
        )
        owner = replica_owner(identity[1], first)
        strategy = self._strategy(first, sum(role.size for role in roles), owner)
        settings = self._spec.strategy(strategy)
        gang = Gang(
            key=key,
            roles=roles,
            # Admission judged the priority of the pods alone: their group may only lower it.
            priority=min(first.priority, need.most_priority),
            created=self._waits_since(members),
            strategy=strategy,
            policy=wishes.policy or TopologyPolicy(settings.topology_policy),
            preferred_domain=wishes.preferred_domain,
            latency_sensitive=wishes.latency_sensitive,
            bandwidth=first.bandwidth,
            one_per_node=settings.one_per_node or spread,
            hold=invalid([*waiting, *bound], need)
            or hold
            or too_many_conditions(waiting, len(roles))
            or members_apart(waiting, bound),
            preempts=first.preempts,
            duration=duration_of(first),
            owner=owner,
        )
        return Draft(gang, identity, tuple(waiting), tuple(bound), need.holder, too_many)

    def _strategy(self, pod: Pod, size: int, owner: str) -> str:
        """What the annotations name; else what the config has for pods that start like these."""
        named = stated_strategy(pod.layers, self._spec.strategies)
        usual = self._spec.default_strategies
        if size > 1:
            return named or usual.gangs
        return named or (usual.replicas if owner else usual.others)

    def _waits_since(self, members: Sequence[Pod]) -> float:
        """When the first one was created, or was last seen to hold itself back no more."""
        first = min(self._now if pod.created is None else pod.created for pod in members)
        return max([first, *(pod.opened for pod in members if pod.opened is not None)])

    def _roles(
        self, waiting: Sequence[Pod], bound: Sequence[Pod], prefers: bool
    ) -> tuple[Role, ...]:
        pods: dict[_Alike, list[str]] = {}
        held: dict[_Alike, list[tuple[str, str]]] = {}
        for pod in waiting:
            pods.setdefault(self._alike(pod, prefers), []).append(pod.name)
        for pod in bound:
            kind = self._alike(pod, prefers)
            pods.setdefault(kind, [])
            held.setdefault(kind, []).append((pod.name, pod.node))
        roles = [
            Role(tuple(names), kind[0], kind[1], tuple(held.get(kind, ())), kind[2].nodes)
            for kind, names in pods.items()
        ]
        return tuple(sorted(roles, key=lambda role: -role.request.gpus))

    def _alike(self, pod: Pod, prefers: bool) -> _Alike:
        preferred = pod.wants.preferred if prefers else NO_PREFERENCES
        return pod.request, pod.constraint(self._mixed), preferred

    def _share(self, pods: Sequence[Pod], size: int) -> None:
        """Let each member ask for its share of what the gang states, bound ones for what they have.

        Bound ones are counted as they ask, so that the shares of the others do not depend on them.
        """
        share_gpus(pods, size, self._spec.devices)
        for pod in pods:
            pod.hold()


def _of_each_entry(
    waiting: Sequence[Pod], bound: Sequence[Pod], need: Need
) -> tuple[list[Pod], list[Pod], int]:
    """As many of each entry as are needed, the others, and how many are missing in all.

    All are needed where none is of any entry.
    """
    found: set[int] = set()
    missing = 0
    for label, value, least in need.entries:
        there = sum(1 for pod in bound if pod.labels.get(label) == value)
        wanted = max(0, least - there)
        some = [pod for pod in waiting if pod.labels.get(label) == value][:wanted]
        found.update(map(id, some))
        missing += wanted - len(some)
    if missing and not found and not bound:
        return list(waiting), [], missing
    core = [pod for pod in waiting if id(pod) in found]
    return core, [pod for pod in waiting if id(pod) not in found], missing


def _ended(members: Sequence[Pod]) -> int:
    """How many members have done their part already.

    Not those that are being deleted, nor those of an owner that is gone: where a gang starts
    over, what the last run has done makes no member of the next one needless.
    """
    return sum(
        1
        for pod in members
        if pod.phase == "Succeeded" and not pod.terminating and pod.owners.missing is None
    )


def replica_owner(dialect: str, pod: Pod) -> str:
    """Kind and name of the owner of which `pod` is one replica, each started by itself; else ""."""
    if dialect is not Dialect.SINGLE or not pod.owners.refs:
        return ""
    owner = pod.owners.refs[0]
    return "" if owner.kind in NO_REPLICAS else f"{owner.kind}/{owner.name}"


def by_rank(pods: Sequence[Pod]) -> Sequence[Pod]:
    """`pods` in the order of their ranks."""
    return sorted(pods, key=attrgetter("rank")) if len(pods) > 1 else pods
