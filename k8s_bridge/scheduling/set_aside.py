"""Gangs set aside: they found no place, and nothing has changed for them since.

A batch holds the first gangs by priority and age. Those that cannot start would be its first
gangs again in each cycle, and the ones behind them would never be looked at. For the same reason
only so many come back in one cycle, even where something has changed for all of them. What a gang
is told stands until something changes in the leaves that it names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from fourleaf.k8s_bridge.scheduling.aside_gangs import AsideGangs, QueueOrder
from fourleaf.k8s_bridge.scheduling.freed_room import OF_THE_FABRIC, OF_THE_ROOM, FreedRoom, changes
from fourleaf.k8s_bridge.scheduling.gang_kind import gang_kind, in_itself
from fourleaf.k8s_bridge.scheduling.judged_alike import are_judged_alike
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.instance.gang_classes import dealt

_OF_THE_KIND = OF_THE_FABRIC - {ReasonKind.BOUND_ELSEWHERE}
"""Those that hold for every gang of its kind and namespace as well."""

MOST_KINDS = 10_000
"""Kinds of gangs, at most, of which it is remembered that they are hopeless."""

_ASIDE = OF_THE_FABRIC | OF_THE_ROOM

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
        self._aside = AsideGangs()
        self._queue = QueueOrder()
        self._owed: dict[int, None] = {}
        self._behind: dict[int, None] = {}
        """Those that are not looked at because older ones are, which may take the room."""
        self._ahead: set[GangKey] = set()
        """Those that were looked at, and neither placed nor set aside."""
        self._retold: dict[Hashable, list[int]] = {}
        """Namespace and kind -> those to be told what the one that is looked at again is told."""
        self._fabric: Fabric | None = None
        self._config: SchedulerConfig | None = None
        self._running: tuple[RunningPod, ...] = ()
        self._is_unproven = False
        """Whether some stand aside by a plan that was not proven: any edit may help them."""
        self._fruitless: tuple[Snapshot, Plan] | None = None
        self._planned: set[tuple[str, str]] = set()
        """The pods that the last plan placed, by namespace and name."""
        self._hopeless: dict[Hashable, Reason] = {}
        """Namespace and kind of gangs that stand aside -> why none can start on this fabric."""

    def without(self, snapshot: Snapshot) -> tuple[Snapshot, tuple[Waiting, ...]]:
        """`snapshot` without the gangs that stand aside, and what these wait for."""
        self._take_back(snapshot, self._queue.follow(snapshot.gangs))
        if not self._aside:
            return snapshot, ()
        self._join(self._queue.others(snapshot.gangs, self._aside))
        others = self._queue.others(snapshot.gangs, self._aside)
        return snapshot.with_gangs(tuple(others)), self._aside.answers

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
        found = [
            one
            for one in plan.waiting
            if one.reason.kind in _ASIDE and gangs[one.gang].hold is None
        ]
        self._is_unproven |= bool(found) and plan.status is not PlanStatus.OPTIMAL
        self._ahead = {one.gang for one in plan.waiting if one.reason.kind not in _ASIDE}
        told = self._tell_those_alike(gangs.values(), {one.gang: one for one in found})
        if plan.placements:
            pods = {(one.gang.namespace, pod) for one in plan.placements for pod, _ in one.pods}
            nodes = (node for one in plan.placements for _, node in one.pods)
            self._tell_anew(_places_of(nodes, batch.fabric), told)
            self._planned = pods
        for one in found:
            gang = gangs[one.gang]
            self._aside.put(gang, one)
            if one.reason.kind in _OF_THE_KIND and not _is_of_custom_rules(one.reason):
                self._hopeless[self._aside.kind(id(gang))] = one.reason
        return bool((found and are_left_out) or self._owed)

    def _tell_those_alike(self, asked: Iterable[Gang], told: Mapping[GangKey, Waiting]) -> set[int]:
        """Let gangs wait for the reason of the one of their kind that was looked at for them."""
        found: set[int] = set()
        for gang in asked if self._retold else ():
            # One that has an answer of one cycle is in the batch of the next one.
            if answer := told.get(gang.key):
                for number in self._retold.pop((gang.key.namespace, gang_kind(gang)), ()):
                    if number in self._aside and number not in self._owed:
                        alike = self._aside.gang(number)
                        self._aside.put(alike, Waiting(alike.key, answer.reason))
                        found.add(number)
        return found

    def _join(self, others: Iterable[Gang]) -> None:
        """Set gangs aside unlooked at where one of the same namespace and kind is hopeless.

        Those that were to be looked at again need not be, either.
        """
        if not self._hopeless:
            return
        owed = [self._aside.gang(number) for number in self._owed]
        for gang in (*others, *owed):
            if gang.hold is None:
                reason = self._hopeless.get((gang.key.namespace, gang_kind(gang)))
                if reason is not None:
                    self._aside.put(gang, Waiting(gang.key, reason))
                    self._owed.pop(id(gang), None)

    def _take_back(self, snapshot: Snapshot, gone: Iterable[int]) -> None:
        """Take back in what something has changed for: the gang, nodes, config, or pods ended.

        Of the config only what decides whether a gang can start.

        `gone`: the numbers of the snapshot before that are not in this one.
        """
        ended, begun = changes(self._running, snapshot.running) if self._aside else ([], [])
        started = {(pod.namespace, pod.name) for pod in begun}
        planned, self._planned = self._planned, set()
        changed = snapshot.fabric is not self._fabric or not self._is_judged_alike(snapshot.config)
        self._fabric, self._config = snapshot.fabric, snapshot.config
        self._is_unproven = self._is_unproven and not changed
        if changed or len(self._hopeless) > MOST_KINDS:
            self._hopeless = {}
        self._running = snapshot.running
        size = snapshot.config.spec.batch.size
        owed = len(self._owed)
        if gone := [number for number in gone if number in self._aside]:
            self._follow(snapshot.gangs, gone)
        lost_owed = len(self._owed) < owed
        if not self._aside:
            self._owed, self._behind, self._retold = {}, {}, {}
            return
        # Nothing else says that room, or a quota, is free which was meant for another, where pods
        # that were planned do not run, or who came first is gone, another now or on hold.
        if not planned <= started:
            self._owe(self._aside.waiting_for(ReasonKind.QUOTA_EXCEEDED))
        if self._behind:
            there_still = self._ahead <= {gang.key for gang in snapshot.gangs}
            if lost_owed or not (planned <= started and there_still):
                self._owe(number for number in self._behind if number in self._aside)
                self._behind = {}
        if changed:
            self._owe(self._aside.numbers)
        elif ended:
            helped = FreedRoom(snapshot, ended).helped(
                (self._aside.gang(number), self._aside.kind(number), self._aside.reason(number))
                for number in self._aside.numbers
                if number not in self._owed
            )
            self._owed = dict.fromkeys(map(id, helped.first)) | self._owed
            self._owe(map(id, helped.unknown))
            self._behind |= {id(gang): None for gang in helped.behind}
        if begun or ended:
            # Who was in the batch of those that are planned was told what that leaves.
            new = (pod for pod in begun if (pod.namespace, pod.name) not in planned)
            nodes = (pod.node for pod in (*ended, *new))
            self._tell_anew(_places_of(nodes, snapshot.fabric))
        others = len(snapshot.gangs) - len(self._aside)
        for number in self._due(max((size + 1) // 2, size - others)):
            self._aside.pop(number)
            self._owed.pop(number, None)
            self._queue.come_back()

    def _is_judged_alike(self, config: SchedulerConfig) -> bool:
        """Whether the answers under the config of the last snapshot hold under `config`."""
        if self._config is None or self._config is config or self._is_unproven:
            return self._config is config
        return are_judged_alike(self._config.spec, config.spec)

    def _follow(self, gangs: Sequence[Gang], gone: Iterable[int]) -> None:
        """Forget the gangs that are `gone`, or others now.

        One that is another only by what pods of others do to it stays aside, or those that prefer
        to be near pods which come and go would be the first of every batch. Where that has changed
        which nodes it may use, it is to be looked at again.
        """
        others = {gang.key: gang for gang in gangs if id(gang) not in self._aside}
        now: dict[int, int] = {}
        for number in gone:
            before, why = self._aside.pop(number)
            gang = others.get(before.key)
            if gang is not None and in_itself(gang) == in_itself(before):
                self._aside.put(gang, why)
                now[number] = id(gang)
                if any(
                    a.constraint != b.constraint
                    for a, b in zip(before.roles, gang.roles, strict=True)
                ):
                    self._owed.setdefault(number, None)
        owed = (now.get(number, number) for number in self._owed)
        self._owed = {number: None for number in owed if number in self._aside}
        behind = (now.get(number, number) for number in self._behind)
        self._behind = {number: None for number in behind if number in self._aside}
        kinds = self._aside.kinds()
        self._hopeless = {kind: why for kind, why in self._hopeless.items() if kind in kinds}
        self._retold = {kind: alike for kind, alike in self._retold.items() if kind in kinds}

    def _tell_anew(self, places: Container[str], told: Container[int] = ()) -> None:
        """Look again at those whose reasons name one of the places, which have changed.

        One of each kind is looked at for all that wait for the same.
        """
        anew: dict[Hashable, list[int]] = {}
        for reason, numbers in self._aside.by_reason():
            if any(near.leaf in places for near in reason.near):
                for number in numbers:
                    if number not in self._owed and number not in told:
                        anew.setdefault(self._aside.kind(number), []).append(number)
        self._retold |= anew
        self._owe(numbers[0] for numbers in anew.values())

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
        owed = [self._aside.gang(number) for number in self._owed]
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


def _is_of_custom_rules(reason: Reason) -> bool:
    """Whether a rule of the operator's own had a say, which may look at the gang itself."""
    return any(name.startswith("rule ") for name, _ in reason.counts)


def _is_left_out(gang: Gang, waiting: Waiting) -> bool:
    """Whether the batch, or its namespace's part of it, was full before a gang could be in it."""
    full = (ReasonKind.NOT_IN_BATCH, ReasonKind.NAMESPACE_LIMIT)
    return gang.hold is None and waiting.reason.kind in full


def _places_of(nodes: Iterable[str], fabric: Fabric) -> set[str]:
    """The names of the leaves and spines of nodes."""
    leaves = {fabric.leaf_of[node] for node in nodes if node in fabric.leaf_of}
    return {name for i in leaves for name in (fabric.leaves[i].name, fabric.leaves[i].spine)}
