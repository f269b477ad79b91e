"""Pods that end, whatever told them to, and their room, for which a gang waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.relocation.ages import grace_seconds, seconds_to_end
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.from_plan import reserving
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement
from fourleaf.model.running_gang import PodName
from fourleaf.model.snapshot import Snapshot

SOON_SECONDS = 300.0
"""Seconds within which pods have to end so that a gang waits for their room: others would idle
beside who takes an hour, and an urgent gang with them."""
KEPT_SECONDS = 600.0
"""Seconds for which such room is kept at most."""
MAKES_ROOM = "pods that end anyway make room for it"
"""Why it is kept."""


class EndingPods:
    """All pods that end, whatever told them to: their room is to come, for one leader.

    Counted since this one has heard of it; not of those that are overdue.
    """

    def __init__(self, cache: ClusterCache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock
        self._since: dict[str, float] = {}
        """UID -> since when the pod is known to end, on the monotonic clock."""

    def listen(self) -> None:
        """Hear of all pods from now on, and of those that end already."""
        for body in self._cache.objects.get(PODS, {}).values():
            self._hear(str(body["metadata"]["uid"]))
        self._cache.listen(self._hear)

    def mute(self) -> None:
        """Hear of no more."""
        self._cache.mute(self._hear)

    def gone_soon(self, dead: Container[str]) -> frozenset[PodName]:
        """Those on nodes that live, and are not `dead`, whose kubelets end them soon."""
        now = self._clock.monotonic()
        ending = ((self._cache.seen(uid), since) for uid, since in self._since.items())
        return frozenset(
            (seen.pod.namespace, seen.pod.name)
            for seen, since in ending
            if seen is not None
            and seen.node not in dead
            and now - since < seconds_to_end(self._cache, seen.pod)
            and since + grace_seconds(self._cache, seen.pod) - now <= SOON_SECONDS
        )

    def seconds_left(self, pods: Iterable[PodName]) -> float:
        """Seconds until the last of these has used up its grace."""
        now, left = self._clock.monotonic(), 0.0
        for name in pods:
            seen = self._cache.named(*name)
            since = None if seen is None else self._since.get(seen.pod.uid)
            if seen is not None and since is not None:
                left = max(left, since + grace_seconds(self._cache, seen.pod) - now)
        return left

    def _hear(self, uid: str) -> None:
        seen = self._cache.seen(uid)
        if seen is None or seen.finished or not seen.deleting:
            self._since.pop(uid, None)
        else:
            self._since.setdefault(uid, self._clock.monotonic())


@dataclass(slots=True, eq=False)
class RoomToCome:
    """Room of pods that end anyway, in one term: each gang waits for such pods once.

    It is kept for the gang, as a reservation, or those that come meanwhile would have it. Pods that
    begin to end later are no reason to wait longer: others may come and go all the time. `end` ends
    a relocation early.
    """

    cache: ClusterCache
    store: RelocationStore
    planner: Planner
    ending: EndingPods
    end: Callable[[Relocation, str], Awaitable[None]]
    _awaited: dict[GangKey, frozenset[str]] = field(default_factory=dict)
    """UIDs of the pods that a gang has waited for."""

    def pods(self, gang: GangKey, dead: Container[str]) -> frozenset[PodName]:
        """The pods that end and whose room a gang may wait for."""
        there = self.ending.gone_soon(dead)
        awaited = self._awaited.get(gang)
        if awaited is None:
            return there
        seen = {name: self.cache.named(*name) for name in there}
        return frozenset(name for name, one in seen.items() if one and one.pod.uid in awaited)

    async def suffices(
        self,
        question: Snapshot,
        gang: Gang,
        going: frozenset[PodName],
        ending: frozenset[PodName],
        view: ClusterView,
    ) -> bool:
        """Whether `gang` has room without others once pods have gone, or a record is written.

        `going` make way for others, and `ending` end anyway: the room of these is kept for it.
        Raises `Fenced` where another leads by now.
        """
        if going and await self._room_without(going, question, gang):
            return True
        if ending and (there := await self._room_without(going | ending, question, gang)):
            await self._wait(gang, there, ending, question, view)
            return True
        written = self.cache.once_written(question)
        return written is not question and bool(await self._room_without((), written, gang))

    async def _room_without(
        self, going: Container[PodName], snapshot: Snapshot, gang: Gang
    ) -> Placement | None:
        """Where there is room for `gang` once the pods `going` have gone, None for nowhere."""
        running = (pod for pod in snapshot.running if (pod.namespace, pod.name) not in going)
        later = replace(snapshot, running=tuple(running))
        return (await self.planner.preempt(later, gang.key)).placement

    async def _wait(
        self,
        gang: Gang,
        there: Placement,
        ending: frozenset[PodName],
        question: Snapshot,
        view: ClusterView,
    ) -> None:
        """Let a gang wait for its place `there`, which is free once all that are `ending` are gone.

        It is kept where those on its nodes are enough: others have quota or links that it needs,
        and its nodes would be free before these.
        """
        if gang.key in self._awaited:
            return
        seen = {name: self.cache.named(*name) for name in ending}
        nodes = {node for _, node in there.pods}
        on_place = frozenset(name for name, one in seen.items() if one and one.node in nodes)
        place = await self._room_without(on_place, question, gang) if on_place else None
        awaited = ending if place is None else on_place
        self._awaited[gang.key] = frozenset(one.pod.uid for name in awaited if (one := seen[name]))
        if place is not None and self.cache.config.spec.backfill.enabled:
            await self._keep(gang, place, self.ending.seconds_left(on_place), view)

    async def _keep(self, gang: Gang, place: Placement, seconds: float, view: ClusterView) -> None:
        starts = view.now + seconds
        one = reserving(place, gang, starts, view, KEPT_SECONDS, MAKES_ROOM)
        kept = self.store.of(gang.key)
        if one is None or (kept is not None and 0.0 < kept.starts <= starts):
            return
        if kept is not None and kept.purpose is Purpose.RESERVATION:
            await self.end(kept, MAKES_ROOM)
        if gang.key not in self.store:
            await self.store.put(one)

    def forget(self, there: Container[GangKey]) -> None:
        """Forget gangs that are not `there`: they wait no more."""
        self._awaited = {gang: pods for gang, pods in self._awaited.items() if gang in there}
