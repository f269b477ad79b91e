"""Gangs set aside: they found no place in a full batch, and nothing has changed for them since.

A batch holds the first gangs by priority and age. Those that cannot start would be its first
gangs again in each cycle, and the ones behind them would never be looked at. For the same reason
only so many come back in one cycle, even where something has changed for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from fourleaf.k8s_bridge.scheduling.gang_kind import gang_kind, in_itself
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.instance.gang_classes import dealt

_OF_THE_FABRIC = frozenset(
    {ReasonKind.NO_MATCHING_NODES, ReasonKind.TOO_LARGE, ReasonKind.BOUND_ELSEWHERE}
)
"""Reasons that hold as long as the gang, the nodes and the config are what they are."""

_OF_THE_KIND = _OF_THE_FABRIC - {ReasonKind.BOUND_ELSEWHERE}
"""Those that hold for every gang of its kind and namespace as well."""

MOST_KINDS = 10_000
"""Kinds of gangs, at most, of which it is remembered that they are hopeless."""

_OF_ONE_LEAF = frozenset({ReasonKind.NO_FREE_CAPACITY, ReasonKind.NO_ADJACENT_LEAVES})
"""Reasons that hold for as long as no pod ends in a leaf that a member could go to, either."""

_OF_THE_ROOM = _OF_ONE_LEAF | {ReasonKind.QUOTA_EXCEEDED, ReasonKind.UPLINK_FULL}
"""Reasons that hold for as long as no pod ends anywhere, either."""

_PASSING = frozenset(
    {
        ReasonKind.NAMESPACE_LIMIT,
        ReasonKind.NOT_IN_BATCH,
        ReasonKind.OUTRANKED,
        ReasonKind.NOT_PROVEN,
    }
)
"""Reasons of one cycle: the next one may say otherwise where nothing has changed."""


class SetAside:
    """Which gangs stand aside, and what they wait for; and the plan that nothing came of."""

    def __init__(self) -> None:
        self._gangs: dict[int, Gang] = {}
        """By identity of the gang: the cache keeps one object as long as nothing of it changes."""
        self._waiting: dict[int, Waiting] = {}
        """What each of them waits for: two tables, so that a long queue is told without a loop."""
        self._owed: dict[int, None] = {}
        self._fabric: Fabric | None = None
        self._config: SchedulerConfig | None = None
        self._running: tuple[RunningPod, ...] = ()
        self._fruitless: tuple[Snapshot, Plan] | None = None
        self._hopeless: dict[Hashable, Reason] = {}
        """Namespace and kind of gangs -> why none of them can start on this fabric."""

    def without(self, snapshot: Snapshot) -> tuple[Snapshot, tuple[Waiting, ...]]:
        """`snapshot` without the gangs that stand aside, and what these wait for.

        None does where all gangs have room in one batch.
        """
        self._take_back(snapshot)
        waiting = self._waiting
        if not waiting:
            return snapshot, ()
        others = [gang for gang in snapshot.gangs if id(gang) not in waiting]
        self._join(others)
        aside = tuple(waiting.values())
        others = [gang for gang in others if id(gang) not in waiting]
        return replace(snapshot, gangs=tuple(others)), aside

    def fruitless(self, batch: Snapshot) -> Plan | None:
        """The last plan, where it is proven that nothing can start and nothing has changed."""
        if self._fruitless is None:
            return None
        before, plan = self._fruitless
        same = (
            batch.fabric is before.fabric
            and batch.config is before.config
            and batch.running == before.running
            and batch.gangs == before.gangs
        )
        return plan if same else None

    def note(self, batch: Snapshot, plan: Plan) -> bool:
        """Set aside the gangs of a full batch that found no place; whether others are next."""
        kinds = {one.reason.kind for one in plan.waiting}
        done = plan.status is PlanStatus.OPTIMAL and not plan.placements and not plan.note
        self._fruitless = (batch, plan) if done and not kinds & _PASSING else None
        gangs = {gang.key: gang for gang in batch.gangs}
        are_left_out = any(_is_left_out(gangs[one.gang], one) for one in plan.waiting)
        is_full = are_left_out or bool(self._owed)
        if not (is_full or self._waiting):
            return False
        # Of the last ones of a long queue, those that no pod that ends can help.
        kinds_aside = _OF_THE_FABRIC | _OF_THE_ROOM if is_full else _OF_THE_FABRIC
        found = [
            one
            for one in plan.waiting
            if one.reason.kind in kinds_aside and gangs[one.gang].hold is None
        ]
        for one in found:
            gang = gangs[one.gang]
            self._set(gang, one)
            if one.reason.kind in _OF_THE_KIND and not _is_of_custom_rules(one.reason):
                self._hopeless[gang.key.namespace, gang_kind(gang)] = one.reason
        return bool((found and are_left_out) or self._owed)

    def _set(self, gang: Gang, waiting: Waiting) -> None:
        self._gangs[id(gang)], self._waiting[id(gang)] = gang, waiting

    def _drop(self, number: int) -> None:
        del self._gangs[number], self._waiting[number]
        self._owed.pop(number, None)

    def _join(self, others: Iterable[Gang]) -> None:
        """Set gangs aside unlooked at where one of the same namespace and kind is hopeless.

        Those that were to be looked at again need not be, either.
        """
        if not self._hopeless:
            return
        owed = [self._gangs[number] for number in self._owed]
        for gang in (*others, *owed):
            if gang.hold is None:
                reason = self._hopeless.get((gang.key.namespace, gang_kind(gang)))
                if reason is not None:
                    self._set(gang, Waiting(gang.key, reason))
                    self._owed.pop(id(gang), None)

    def refused(self) -> None:
        """Look again at what waits for a quota: a plan that did not take has not used it up."""
        self._owe(
            number
            for number, one in self._waiting.items()
            if one.reason.kind is ReasonKind.QUOTA_EXCEEDED
        )

    def _take_back(self, snapshot: Snapshot) -> None:
        """Take back in what something has changed for: the gang, nodes, config, or pods ended."""
        ended = self._ended(snapshot.running) if self._waiting else []
        changed = snapshot.fabric is not self._fabric or snapshot.config is not self._config
        self._fabric, self._config = snapshot.fabric, snapshot.config
        if changed or len(self._hopeless) > MOST_KINDS:
            self._hopeless = {}
        self._running = snapshot.running
        size = snapshot.config.spec.batch.size
        if self._waiting and _all_have_room(snapshot):
            self._gangs, self._waiting = {}, {}
        if not self._waiting:
            self._owed = {}
            return
        there = set(map(id, snapshot.gangs))
        if not self._waiting.keys() <= there:
            self._follow(snapshot.gangs, there)
        room = _FreedRoom(snapshot, ended) if ended else None
        if changed or room is not None:
            self._owe(
                number
                for number, one in self._waiting.items()
                if changed or (room and room.may_help(self._gangs[number], one.reason.kind))
            )
        others = len(snapshot.gangs) - len(self._waiting)
        for number in self._due(max((size + 1) // 2, size - others)):
            self._drop(number)

    def _follow(self, gangs: Sequence[Gang], there: Container[int]) -> None:
        """Forget the gangs that are gone or others now.

        One that is another only by what pods of others do to it stays aside, or those that prefer
        to be near pods which come and go would be the first of every batch. Where that has changed
        which nodes it may use, it is to be looked at again.
        """
        others = {gang.key: gang for gang in gangs if id(gang) not in self._waiting}
        now: dict[int, int] = {}
        for number in [number for number in self._waiting if number not in there]:
            before, why = self._gangs.pop(number), self._waiting.pop(number)
            gang = others.get(before.key)
            if gang is not None and in_itself(gang) == in_itself(before):
                self._set(gang, why)
                now[number] = id(gang)
                if any(
                    a.constraint != b.constraint
                    for a, b in zip(before.roles, gang.roles, strict=True)
                ):
                    self._owed.setdefault(number, None)
        owed = (now.get(number, number) for number in self._owed)
        self._owed = {number: None for number in owed if number in self._waiting}

    def _owe(self, gangs: Iterable[int]) -> None:
        """These are to be looked at again; who was owed that before comes first."""
        self._owed |= dict.fromkeys(gangs)

    def _due(self, number: int) -> list[int]:
        """At most so many to be looked at now: half by rank, half for who is owed that longest.

        By rank alone, pods that end all the time bring the first gangs back all the time; in turn
        alone, the most urgent gang waits for a round of all others.
        """
        if not self._owed:
            return []
        owed = [self._gangs[number] for number in self._owed]
        back: Counter[str] = Counter()
        first = list(islice(self._halved(dealt(owed), back), (number + 1) // 2))
        taken = set(map(id, first))
        in_turn = (gang for gang in owed if id(gang) not in taken)
        rest = islice(self._halved(in_turn, back), number - len(first))
        return [id(gang) for gang in (*first, *rest)]

    def _halved(self, gangs: Iterable[Gang], back: Counter[str]) -> Iterator[Gang]:
        """Of each namespace, as many as leave half of its own room for others of it.

        `back` counts those that are back, by namespace.
        """
        for gang in gangs:
            namespace = gang.key.namespace
            most = self._config.spec.namespace(namespace).max_gangs if self._config else None
            if most is None or back[namespace] < (most + 1) // 2:
                back[namespace] += 1
                yield gang

    def _ended(self, running: tuple[RunningPod, ...]) -> list[RunningPod]:
        """The pods that ran when gangs were set aside, and do no more."""
        if running is self._running:
            return []
        # A pod that runs as before is the same object; the few others are compared by name.
        now = {id(pod) for pod in running}
        gone = [pod for pod in self._running if id(pod) not in now]
        nodes = {pod.node for pod in gone}
        still = {_place(pod) for pod in running if pod.node in nodes}
        return [pod for pod in gone if _place(pod) not in still]


class _FreedRoom:
    """The leaves in which pods have ended, and what is free there.

    A place that a gang has now and had not before has a member in one of these leaves, as far as
    room alone kept it waiting.
    """

    def __init__(self, snapshot: Snapshot, ended: Collection[RunningPod]) -> None:
        spec, fabric = snapshot.config.spec, snapshot.fabric
        self._quotas = any(one.gpu_quota is not None for one in spec.namespaces.values())
        self._namespaces = {pod.namespace for pod in ended}
        leaves = {fabric.leaf_of[pod.node] for pod in ended if pod.node in fabric.leaf_of}
        free = {
            node.name: node.allocatable.gpus
            for leaf in leaves
            for node in fabric.leaves[leaf].nodes
        }
        for pod in snapshot.running:
            if pod.node in free:
                free[pod.node] -= pod.request.gpus
        self._most_gpus = max(free.values(), default=0)

    def may_help(self, gang: Gang, kind: ReasonKind) -> bool:
        """Whether a gang that waits for that reason may have a place now."""
        if kind in _OF_THE_FABRIC:
            return False
        if kind not in _OF_ONE_LEAF or gang.bandwidth is not None:
            return True
        if self._quotas and gang.key.namespace in self._namespaces:
            return True
        return any(role.request.gpus <= self._most_gpus for role in gang.roles)


def _is_of_custom_rules(reason: Reason) -> bool:
    """Whether a rule of the operator's own had a say, which may look at the gang itself."""
    return any(name.startswith("rule ") for name, _ in reason.counts)


def _is_left_out(gang: Gang, waiting: Waiting) -> bool:
    """Whether the batch, or its namespace's part of it, was full before a gang could be in it."""
    full = (ReasonKind.NOT_IN_BATCH, ReasonKind.NAMESPACE_LIMIT)
    return gang.hold is None and waiting.reason.kind in full


def _all_have_room(snapshot: Snapshot) -> bool:
    """Whether one batch holds all gangs."""
    spec = snapshot.config.spec
    if len(snapshot.gangs) > spec.batch.size:
        return False
    gangs = Counter(gang.key.namespace for gang in snapshot.gangs)
    limits = {name: spec.namespace(name).max_gangs for name in gangs}
    return all(most is None or gangs[name] <= most for name, most in limits.items())


def _place(pod: RunningPod) -> tuple[str, str, str, Resources]:
    """Where a pod runs, and what it holds there: one that was resized has given its room back."""
    return pod.namespace, pod.name, pod.node, pod.request
