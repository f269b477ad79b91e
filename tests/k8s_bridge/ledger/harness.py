"""A small cluster in memory, and leaders that can be killed at any write."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import Kubelets, add_namespace, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.binding import Binder
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials
from fourleaf.k8s_bridge.ledger.commit import CommitOutcome, CommitRequest, Committer
from fourleaf.k8s_bridge.ledger.dry_run import DryRun
from fourleaf.k8s_bridge.ledger.formats.codec import read_gang, read_page
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.names import COMMIT, GANG, PAGE, RECORD
from fourleaf.k8s_bridge.ledger.page_layout import laid_out
from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.ledger.reconciler import Reconciler
from fourleaf.k8s_bridge.ledger.record_store import Formats, Records
from fourleaf.k8s_bridge.ledger.records import GangLease, Member, Page
from fourleaf.k8s_bridge.ledger.takeover import Takeover, find
from fourleaf.model.devices.held_devices import DEVICES
from fourleaf.model.gang import GangKey
from fourleaf.model.readers import Source, read
from tests.twins.virtual_clock import VirtualClock

SYSTEM = "kube-system"
TEAM = "ml"


class Killed(BaseException):
    """The process has died; nothing after this line happens."""


class InstantClock:
    """A clock on which every sleep is over at once."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Seconds slept in all."""
        return self.now

    def wall(self) -> float:
        """The same, as seconds since the epoch."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Move on."""
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class Death:
    """Kills a process before or after its write number `at`; then nothing passes any more."""

    at: int
    after: bool = False
    writes: list[str] = field(default_factory=list)
    dead: bool = False
    last: ApiRequest | None = None

    async def before(self, request: ApiRequest) -> None:
        """Count a write, and die where it is time."""
        if self.dead:
            raise Killed
        if request.writes:
            self.writes.append(f"{request.verb} {request.kind.plural}/{request.subresource}")
            if len(self.writes) == self.at:
                self.last = request
                self.dead = not self.after
                if self.dead:
                    raise Killed

    async def after_(self, request: ApiRequest) -> None:
        """Die with the write done and its answer unread."""
        if request is self.last:
            self.dead = True
            raise Killed


class Mortal:
    """A `Death` as an interceptor."""

    def __init__(self, death: Death) -> None:
        self.death = death

    async def before(self, request: ApiRequest) -> None:
        """Before the request reaches the store."""
        await self.death.before(request)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Before the answer reaches the process."""
        await self.death.after_(request)


class Held:
    """Holds requests of one verb and kind until `go` is set; `met` says that one has come.

    With `answers`, what they ask for is done, and their answers are held.
    """

    def __init__(self, verb: str, prefix: str, answers: bool = False) -> None:
        self.verb = verb
        self.prefix = prefix
        self.answers = answers
        self.met = asyncio.Event()
        self.go = asyncio.Event()

    async def before(self, request: ApiRequest) -> None:
        """Hold the request."""
        if not self.answers:
            await self._hold(request)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Hold the answer."""
        if self.answers:
            await self._hold(request)

    async def _hold(self, request: ApiRequest) -> None:
        if request.verb == self.verb and request.target.name.startswith(self.prefix):
            self.met.set()
            await self.go.wait()


class TruePods:
    """Pods straight from the store: a watch without any lag."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dead_nodes: set[str] = set()

    def seen(self, uid: str) -> PodSeen | None:
        """The pod as it stands in the store."""
        for body in self.world.pods():
            if body["metadata"]["uid"] == uid:
                return pod_seen(body)
        return None

    def usable(self, node: str) -> bool:
        """Every node but those said to be dead."""
        return node not in self.dead_nodes

    def is_doubted(self, _node: str) -> bool:
        """Every node is well, or dead."""
        return False

    def running_on(self, node: str) -> Iterable[tuple[GangKey, Member]]:
        """Bound pods, with the gang that their annotation names."""
        for body in self.world.pods():
            seen = pod_seen(body)
            if seen.node == node and not seen.finished:
                yield self.world.gang_of(body), Member(seen.pod, node, devices_of(body))


def devices_of(body: Body) -> tuple[int, ...]:
    """The devices that a pod's annotation lists."""
    text = (body["metadata"].get("annotations") or {}).get(DEVICES, "")
    return tuple(int(one) for one in text.split(",") if one)


class World:
    """One spine of 4 leaves of 4 nodes, and what stands in its store."""

    def __init__(self) -> None:
        self.clock = InstantClock()
        self.cluster = MemoryCluster(clock=self.clock, identity="admin")
        self.true_pods = TruePods(self)
        self.kubelets = Kubelets(self.cluster.store)

    async def start(self) -> World:
        """Bring up nodes and namespaces."""
        await add_namespace(self.cluster, SYSTEM)
        for body in nodes(1, 4, 4):
            await self.cluster.create(NODES, "", body)
        return self

    def records_of(self, kind: Any, namespace: str = "") -> list[Body]:
        """Objects of `kind` as they stand."""
        return [record.whole() for record in self.cluster.store.records(kind, namespace)]

    def pods(self) -> list[Body]:
        """All pods as they stand."""
        return self.records_of(PODS)

    def gang_of(self, body: Body) -> GangKey:
        """The gang that a pod's annotation names."""
        metadata = body["metadata"]
        return GangKey(metadata["namespace"], metadata["annotations"]["topology.scheduler/gang"])

    def leases(self, record: str) -> list[Body]:
        """Leases that record pages or gangs."""
        return [
            body
            for body in self.records_of(LEASES, SYSTEM)
            if (body["metadata"].get("labels") or {}).get(RECORD) == record
        ]

    def pages(self) -> list[Page]:
        """All pages as they stand."""
        return [read_page(body) for body in self.leases(PAGE)]

    def gang_leases(self) -> list[GangLease]:
        """All gang leases as they stand."""
        return [read_gang(body) for body in self.leases(GANG)]

    async def gang(self, name: str, places: Sequence[str]) -> CommitRequest:
        """Submit a gang and want its pods on these nodes, with all devices each."""
        pods = await submit(self.cluster, TEAM, gang(name, len(places)))
        members = tuple(
            Member(pod, node, tuple(range(8))) for pod, node in zip(pods, places, strict=True)
        )
        return CommitRequest(GangKey(TEAM, name), members)

    def fabric_pages(self) -> list[Page]:
        """Empty pages for the nodes there are."""
        objects = [{"apiVersion": "v1", "kind": "Node", **body} for body in self.records_of(NODES)]
        return laid_out(read([Source("world", objects=objects)]).snapshot.fabric)

    def check(self, whole: Iterable[CommitRequest] = ()) -> None:
        """Assert what has to hold at rest; `whole` are gangs that are bound all or not at all."""
        live = [pod_seen(body) for body in self.pods()]
        holders: dict[tuple[str, int], str] = {}
        for body in self.pods():
            seen = pod_seen(body)
            if seen.node and not seen.finished:
                for device in devices_of(body):
                    assert (seen.node, device) not in holders, f"{seen.pod} shares {device}"
                    holders[seen.node, device] = seen.pod.name
        bound = {seen.pod.uid for seen in live if seen.node and not seen.finished}
        for wanted in whole:
            count = sum(member.pod.uid in bound for member in wanted.members)
            assert count in (0, len(wanted.members)), f"{wanted.gang}: {count} bound"
        written = [m.pod.uid for page in self.pages() for e in page.entries for m in e.members]
        assert sorted(written) == sorted(bound), "pages differ from live pods"
        assert not self.gang_leases(), "a gang lease is left over"
        assert not [e for page in self.pages() for e in page.entries if e.lease]


class Leader:
    """One leader's ledger, over a client that may die."""

    def __init__(
        self,
        world: World,
        name: str,
        death: Death | None = None,
        formats: Formats | None = None,
    ) -> None:
        self.world = world
        interceptors = (Mortal(death),) if death else ()
        self.cluster = world.cluster.client(name, *interceptors)
        self.records = Records(self.cluster, SYSTEM, name, world.clock, formats)
        self.ledger = Ledger()
        self.name = name
        self.epoch = 0
        self.tasks: list[asyncio.Task[None]] = []
        self.rolled: list[str] = []
        self.binds = True

    async def take_over(self) -> Leader:
        """Fence whoever led before, and lay out the pages."""
        found = await find(self.records)
        self.epoch = found.epoch + 1
        await Takeover(self.records, self.ledger, self.epoch).fence(found)
        pods = self.world.true_pods
        binder = Binder(self.cluster, pods, self.world.clock)
        dry = DryRun(self.cluster, self.world.clock)
        # On a clock that stands: no answer of the memory is late.
        trials = BindingTrials(dry, VirtualClock(), self._start, lambda: None)
        self.committer = Committer(
            self.records, self.ledger, pods, self.epoch, trials, self._decided
        )
        self.keeping = Reconciler(
            self.cluster,
            self.records,
            self.ledger,
            pods,
            binder,
            self.world.clock,
            self.epoch,
            self,
            self._start,
        )
        await self.keeping.lay_out(self.world.fabric_pages())
        return self

    async def commit(self, *plan: CommitRequest) -> CommitOutcome:
        """Commit, and bind each gang as soon as it is decided."""
        self.binds = True
        return await self.committer.commit(plan)

    async def decide(self, *plan: CommitRequest) -> CommitOutcome:
        """Commit without binding anything yet; `rest` goes on from there."""
        self.binds = False
        return await self.committer.commit(plan)

    async def rest(self) -> None:
        """Work until nothing is left to do."""
        for _ in range(200):
            await self.bindings()
            self.world.kubelets.step()
            if not self.ledger.open_commits():
                return
            await self.keeping.run_once()
        raise AssertionError(f"never at rest: {self.ledger.open_commits()}")

    async def bindings(self) -> None:
        """Wait for the members that are being bound; raises what their tasks raised."""
        while self.tasks:
            await self.tasks.pop()
        # Whoever waits for the end of a task hears of it only now.
        await asyncio.sleep(0)

    async def stop(self) -> None:
        """Cancel what still runs."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def took_claim(self, body: Body) -> None:
        """There are no claims."""

    def took(self, body: Body) -> None:
        """The true pods know."""

    def bound(self, commit: Commit, member: Member) -> None:
        """The true pods know."""

    def all_bound(self, commit: Commit, members: tuple[Member, ...]) -> None:
        """No plugin is told."""

    def rolled_back(self, commit: Commit, why: str) -> None:
        """Remember why."""
        self.rolled.append(why)

    def _decided(self, commit: str) -> None:
        if self.binds:
            self.keeping.forward(commit)

    def _start(self, coroutine: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(coroutine)
        self.tasks.append(task)
        return task


def annotation(body: Body, key: str) -> str:
    """One annotation of an object, "" without it."""
    return str((body["metadata"].get("annotations") or {}).get(key, ""))


def commit_of(body: Body) -> str:
    """The commit that bound a pod."""
    return annotation(body, COMMIT)


def on(*leaves: int, size: int = 4) -> list[str]:
    """The first `size` nodes of each leaf."""
    return [f"n-0-{leaf}-{n}" for leaf in leaves for n in range(size)]


def target(body: Body) -> Target:
    """Name an object as it was read."""
    return pod_seen(body).pod
