"""Turns within a quota: smaller gangs of its namespace do not take what an older one waits for.

Nothing is kept on the fabric: gangs of other namespaces may use all that is free there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.relocation.ages import WaitingAges
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import beyond_quota
from fourleaf.k8s_bridge.relocation.reserved_seats import charge
from fourleaf.k8s_bridge.relocation.tenants.kept_room import LATE_SECONDS, START_SECONDS
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.instance.gang_classes import gang_order

FRUITLESS_SECONDS = 3600.0
"""Seconds in which nothing more of the quota has come free, after which a turn is over."""
RESTART_SECONDS = 600.0
"""Seconds after its last pod for which a gang that ran may start again, as large as it was."""
LONGEST_REST_SECONDS = 86400.0
"""Seconds, at most, until a gang has its next turn after some that came to nothing."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A gang that comes first in the quota of its namespace, `since` then.

    `most` GPUs of the quota at once were left in its turn so far, since `grew`; `free` is since
    when as many are as it needs, None while they are not. `starts` is when they are to be by what
    those that run have declared, in seconds since the epoch. The others are on the monotonic clock.
    """

    gang: Gang
    most: int
    grew: float
    free: float | None = None
    starts: float = math.inf
    is_served: bool = False
    """Whether places are kept for it, which use up its quota already."""


@dataclass(frozen=True, slots=True)
class _Ran:
    """A gang held `gpus` of the quota when it was last seen to run, and `most` at any time."""

    at: float
    gpus: int
    most: int


@dataclass(frozen=True, slots=True)
class _Rest:
    """A gang, or a namespace, had so many `turns` in vain in a row: it has none `until`."""

    turns: int
    until: float


@dataclass(slots=True, eq=False)
class QuotaTurns:
    """Whose turn it is, by namespace, in one term; the next leader begins anew.

    `is_barred`: whether gangs of a namespace do not keep to the ends that they declare.
    """

    cache: ClusterCache
    clock: Clock
    is_barred: Callable[[str], bool]
    _turns: dict[str, _Turn] = field(default_factory=dict)
    _rests: dict[GangKey, _Rest] = field(default_factory=dict)
    _resting: dict[str, _Rest] = field(default_factory=dict)
    """The same of namespaces, in which none of their gangs has a turn."""
    _ran: dict[GangKey, _Ran] = field(default_factory=dict)
    _waited: WaitingAges = field(init=False)

    def __post_init__(self) -> None:
        self._waited = WaitingAges(self.clock)

    @property
    def are_on(self) -> bool:
        """Whether it is the turn of any gang."""
        return bool(self._turns)

    def look(self, view: ClusterView, last: Plan) -> bool:
        """See whose turn it is now; whether that is another one's, or is over."""
        config, now = self.cache.config.spec.backfill, self.clock.monotonic()
        before = {name: _said(turn) for name, turn in self._turns.items()}
        self._waited.look(view.gangs.values(), view.now)
        self._rests = {key: one for key, one in self._rests.items() if key in view.gangs}
        self._resting = {
            name: one
            for name, one in self._resting.items()
            if one.until + LONGEST_REST_SECONDS > now
        }
        first = self._first(view, last, config.after_seconds) if config.enabled else {}
        names = first.keys() | self._turns.keys()
        running = charge(view.reading.snapshot, view).running if names else ()
        pods = _by_namespace(running, names)
        self._see(pods, now)
        kept = {one.gang for one in view.open}
        turns = {}
        for name, gang in first.items():
            turn = self._of(gang, pods.get(name, ()), gang.key in kept, view.now)
            if self._is_in_vain(turn, view.now):
                self._rest(gang.key, config.after_seconds)
            else:
                turns[name] = turn
        self._turns = turns
        return before != {name: _said(turn) for name, turn in turns.items()}

    def _see(self, pods: Mapping[str, Collection[RunningPod]], now: float) -> None:
        """Note what gangs hold; who has started in its turn has its namespace wait no longer."""
        held: Counter[GangKey] = Counter()
        for some in pods.values():
            for pod in some:
                if pod.gang is not None:
                    held[pod.gang] += pod.request.gpus
        self._ran = {
            gang: one for gang, one in self._ran.items() if now - one.at < RESTART_SECONDS
        } | {
            gang: _Ran(now, gpus, max(gpus, self._ran[gang].most if gang in self._ran else 0))
            for gang, gpus in held.items()
        }
        for name, turn in self._turns.items():
            if turn.gang.key in held:
                self._resting.pop(name, None)

    def rule(self, moment: float) -> HoldRule | None:
        """Hold who comes later in a quota, and does not end, from this `moment` on, in time."""
        turns = {name: turn for name, turn in self._turns.items() if not turn.is_served}
        if not turns:
            return None

        def hold(gang: Gang) -> Hold | None:
            turn = turns.get(gang.key.namespace)
            if turn is None or not self._is_behind(gang, turn, moment):
                return None
            name, first = gang.key.namespace, turn.gang.key
            return Hold(
                ReasonKind.WAITS_FOR_GANG,
                f"gang {first} has waited longer for GPUs of the quota of {name}",
                (),
                (
                    f"wait until {first} has started, or end it",
                    f"raise namespaces.{name}.gpuQuota",
                    "declare an expected-duration that is over before it can start",
                ),
            )

        return hold

    def _is_behind(self, gang: Gang, turn: _Turn, moment: float) -> bool:
        """Whether it would take what `turn` is about; members of one that runs already may."""
        quota = self._quota(gang)
        asked = _new_gpus(gang)
        if quota is None or not 0 < asked <= quota or self._is_as_it_was(gang, asked):
            return False
        ends = math.inf if gang.duration is None else moment + gang.duration
        is_over = ends <= turn.starts < math.inf and not self.is_barred(gang.key.namespace)
        return gang_order(gang) > gang_order(turn.gang) and not is_over

    def _is_as_it_was(self, gang: Gang, asked: int) -> bool:
        """Whether a gang that runs, or ran just now, asks for no more than to be as it was.

        What is lost of it has not been seen by a leader that is new: half of it may be that.
        """
        ran = self._ran.get(gang.key)
        if ran is None:
            return any(role.bound for role in gang.roles)
        runs = any(role.bound for role in gang.roles)
        return gang.gpus <= ran.most or (runs and asked <= ran.gpus)

    def _first(self, view: ClusterView, last: Plan, after: float) -> dict[str, Gang]:
        """Namespace -> the first of its gangs that has waited for so long for its quota alone."""
        beyond = beyond_quota(last)
        on = {turn.gang.key for turn in self._turns.values()}
        found: dict[str, Gang] = {}
        for gang in sorted(
            (view.gangs[key] for key in beyond | on if key in view.gangs), key=gang_order
        ):
            if gang.key.namespace not in found and self._may_have_one(gang, after):
                found[gang.key.namespace] = gang
        return found

    def _may_have_one(self, gang: Gang, after: float) -> bool:
        """Whether it may come first: it could start within its quota, if that were free."""
        quota, now = self._quota(gang), self.clock.monotonic()
        rests = (self._rests.get(gang.key), self._resting.get(gang.key.namespace))
        return (
            gang.hold is None
            and quota is not None
            and gang.gpus <= quota
            and not any(role.bound for role in gang.roles)
            and all(rest is None or rest.until <= now for rest in rests)
            and self._waited.of(gang) >= after
        )

    def _of(self, gang: Gang, pods: Collection[RunningPod], is_served: bool, now: float) -> _Turn:
        """The turn of `gang`, as it goes on or begins, beside those that run in its namespace."""
        at = self.clock.monotonic()
        left = (self._quota(gang) or 0) - sum(pod.request.gpus for pod in pods)
        before = self._turns.get(gang.key.namespace)
        if before is None or before.gang.key != gang.key:
            before = _Turn(gang, left, at)
        grew = at if left > before.most or is_served else before.grew
        is_free = left >= _new_gpus(gang)
        free = (at if before.free is None else before.free) if is_free or is_served else None
        starts = now if is_free else _when_left(_new_gpus(gang) - left, pods)
        return replace(
            before,
            gang=gang,
            most=max(left, before.most),
            grew=grew,
            free=free,
            starts=starts,
            is_served=is_served,
        )

    def _is_in_vain(self, turn: _Turn, moment: float) -> bool:
        """Whether it is over: its quota is free and it does not start, or no more comes free."""
        now = self.clock.monotonic()
        if turn.is_served:
            return False
        if turn.free is not None:
            return now - turn.free >= START_SECONDS
        # What is declared to end in a year is as good as what never ends.
        is_late = not moment - LATE_SECONDS <= turn.starts <= moment + FRUITLESS_SECONDS
        return is_late and now - turn.grew >= FRUITLESS_SECONDS

    def _rest(self, gang: GangKey, seconds: float) -> None:
        """It has its next turn ever later, and others of its namespace may start meanwhile."""
        now = self.clock.monotonic()
        self._rests[gang] = _longer(self._rests.get(gang), FRUITLESS_SECONDS, now)
        # Others of it would have their turns one after the other, as much in vain.
        name = gang.namespace
        self._resting[name] = _longer(self._resting.get(name), seconds, now)

    def _quota(self, gang: Gang) -> int | None:
        return self.cache.config.spec.namespace(gang.key.namespace).gpu_quota


def _longer(before: _Rest | None, first: float, now: float) -> _Rest:
    """A rest of `first` seconds, or twice as long as the one `before`, a day at most."""
    turns = before.turns + 1 if before else 1
    return _Rest(turns, now + min(first * 2.0 ** min(turns - 1, 30), LONGEST_REST_SECONDS))


def _said(turn: _Turn) -> tuple[GangKey, bool, float | None]:
    """What holds go by."""
    return turn.gang.key, turn.is_served, None if turn.free is not None else turn.starts


def _new_gpus(gang: Gang) -> int:
    """GPUs of the members that are still to be placed."""
    return sum(role.request.gpus * len(role.pods) for role in gang.roles)


def _by_namespace(
    running: Iterable[RunningPod], names: Collection[str]
) -> dict[str, list[RunningPod]]:
    """The pods with GPUs of these namespaces."""
    found: dict[str, list[RunningPod]] = {}
    for pod in running:
        if pod.namespace in names and pod.request.gpus:
            found.setdefault(pod.namespace, []).append(pod)
    return found


def _when_left(gpus: int, pods: Iterable[RunningPod]) -> float:
    """When so many GPUs of `pods` are free by the ends that are declared; infinite if never."""
    ends: Counter[float] = Counter()
    for pod in pods:
        ends[math.inf if pod.ends is None else pod.ends] += pod.request.gpus
    for end in sorted(ends):
        gpus -= ends[end]
        if gpus <= 0:
            return end
    return math.inf
