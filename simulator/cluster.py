"""The cluster in virtual time: nodes, the gangs that run on them, and the books."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.simulator.gpu_seconds import GpuSecondsBooks
from fourleaf.simulator.journal import Journal
from fourleaf.simulator.running_gang import Running

MOST_FABRICS = 8
"""How many fabrics, by their failed nodes, are kept with all that was worked out on them."""


class Overbooked(Exception):
    """A placement that no cluster could carry out."""


class SimulatedCluster:
    """Who runs where. Times are whole seconds; `now` never goes back."""

    def __init__(self, fabric: Fabric) -> None:
        self.base = fabric
        self.capacity = {name: node.allocatable.gpus for name, node in fabric.nodes.items()}
        self.running: dict[GangKey, Running] = {}
        self.failed: set[str] = set()
        self.books = GpuSecondsBooks(sum(self.capacity.values()))
        self.journal = Journal()
        self._free = dict(self.capacity)
        self._pods: dict[tuple[GangKey, str], RunningPod] = {}
        self._on_node: dict[str, set[GangKey]] = {name: set() for name in self.capacity}
        self._fabrics: dict[frozenset[str], Fabric] = {frozenset(): fabric}

    @property
    def fabric(self) -> Fabric:
        """The fabric as it is now: failed nodes are not ready."""
        key = frozenset(self.failed)
        known = self._fabrics.get(key)
        if known is None:
            while len(self._fabrics) >= MOST_FABRICS:
                self._fabrics.pop(next(one for one in self._fabrics if one))
            known = self._fabrics[key] = _without(self.base, key)
        return known

    def snapshot(
        self,
        gangs: Sequence[Gang],
        config: SchedulerConfig,
        now: int,
        kept: Iterable[RunningPod] = (),
    ) -> Snapshot:
        """Everything that a policy may know at `now`, `kept` seats as if they were taken."""
        running = (*self._pods.values(), *kept)
        return Snapshot(self.fabric, running, tuple(gangs), config, float(now))

    def holds(self, pods: Iterable[RunningPod]) -> bool:
        """Whether there are GPUs for all these pods at once where they would stand."""
        wanted: Counter[str] = Counter()
        for pod in pods:
            wanted[pod.node] += pod.request.gpus
        return all(
            node not in self.failed and self._free[node] >= gpus for node, gpus in wanted.items()
        )

    def start(self, one: Running, ends: float | None) -> None:
        """Let a gang run from `one.since` on; `ends` is what the policy hears of its end.

        Raises `Overbooked` where a node has failed or has not the GPUs.
        """
        self.running[one.gang.key] = one
        self._seat(one, one.pods, one.since, ends)

    def finish(self, key: GangKey, now: int) -> Running:
        """Take a gang away, done or not."""
        one = self.running.pop(key)
        self._unseat(one, one.pods, now)
        return one

    def fail(self, node: str, now: int) -> list[GangKey]:
        """Let a node fail. Returns the gangs that lost members, which stand without them."""
        hit = sorted(self._on_node[node])
        for key in hit:
            one = self.running[key]
            one.advance(now)
            self._unseat(one, [seat for seat in one.pods if seat[1] == node], now)
            one.pods = tuple(seat for seat in one.pods if seat[1] != node)
        self.books.advance(now)
        self.books.failed += self.capacity[node]
        self.journal.begin(node, self.capacity[node], now)
        self.failed.add(node)
        return hit

    def restore(self, node: str, now: int) -> None:
        """Let a failed node work again."""
        self.books.advance(now)
        self.books.failed -= self.capacity[node]
        self.journal.finish(node, now)
        self.failed.remove(node)

    def reseat(
        self, key: GangKey, pods: Sequence[tuple[str, str]], now: int, ends: float | None
    ) -> None:
        """Put a gang that runs onto `pods`, in rank order; who is there already stays."""
        one = self.running[key]
        stays = set(pods) & set(one.pods)
        self._unseat(one, [seat for seat in one.pods if seat not in stays], now)
        one.pods = tuple(pods)
        self._seat(one, [seat for seat in pods if seat not in stays], now, ends)

    def vacate(self, key: GangKey, now: int, names: Iterable[str]) -> None:
        """Take members of a gang off their nodes, as the first half of moves."""
        one = self.running[key]
        gone = set(names)
        self._unseat(one, [seat for seat in one.pods if seat[0] in gone], now)
        one.pods = tuple(seat for seat in one.pods if seat[0] not in gone)

    def _seat(
        self, one: Running, seats: Iterable[tuple[str, str]], now: int, ends: float | None
    ) -> None:
        key, gang = one.gang.key, one.gang
        self.books.advance(now)
        for pod, node in seats:
            request = one.requests[pod]
            if node in self.failed or self._free[node] < request.gpus:
                raise Overbooked(f"{pod} cannot start on {node}: {self._free[node]} GPUs are free")
            self._free[node] -= request.gpus
            self.books.used += request.gpus
            self.journal.begin(node, request.gpus, now, pod)
            self._on_node[node].add(key)
            self._pods[key, pod] = RunningPod(
                key.namespace, pod, node, request, key, gang.priority, ours=True, ends=ends
            )

    def _unseat(self, one: Running, seats: Iterable[tuple[str, str]], now: int) -> None:
        key = one.gang.key
        self.books.advance(now)
        for pod, node in seats:
            gpus = one.requests[pod].gpus
            self._free[node] += gpus
            self.books.used -= gpus
            self.journal.finish(node, now, pod)
            del self._pods[key, pod]
            if not any((key, other) in self._pods for other, where in one.pods if where == node):
                self._on_node[node].discard(key)


def _without(fabric: Fabric, failed: frozenset[str]) -> Fabric:
    """The fabric with these nodes not ready; leaves without any are shared."""
    hit = {fabric.leaf_of[name] for name in failed}
    leaves = tuple(
        replace(
            leaf,
            nodes=tuple(replace(n, ready=False) if n.name in failed else n for n in leaf.nodes),
        )
        if position in hit
        else leaf
        for position, leaf in enumerate(fabric.leaves)
    )
    return replace(fabric, leaves=leaves)
