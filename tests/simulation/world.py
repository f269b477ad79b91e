"""Everything there is in one simulation: cluster, users, machines, replicas, faults, judges."""

from __future__ import annotations

import asyncio
import traceback
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, TypeVar

from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
from fourleaf.k8s_bridge.cluster.kinds import (
    DISRUPTION_BUDGETS,
    NAMESPACES,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    Kind,
)
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import LEAF, nodes, pod
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.readers.text.merge_patch import merged
from tests.simulation.chance import stream
from tests.simulation.churn import config
from tests.simulation.faults.fault import Fault
from tests.simulation.jobs import TEAM, Jobs
from tests.simulation.laws.evictions import Evictions, node_of
from tests.simulation.laws.formats import Versions
from tests.simulation.laws.gangs import Gangs
from tests.simulation.laws.pods import LivePods
from tests.simulation.laws.records import Books
from tests.simulation.laws.volumes import Volumes
from tests.simulation.past import Past
from tests.simulation.replica import Replica
from tests.simulation.store import WatchedStore
from tests.simulation.story import Story
from tests.twins.disruption import DisruptionController
from tests.twins.heartbeats import FakeHeartbeats
from tests.twins.virtual_clock import VirtualClock
from tests.twins.volume_provisioner import Provisioner

T = TypeVar("T")

PRIORITIES = {"low": -5, "high": 5, "meek": 5}
"""PriorityClasses; those of `meek` preempt nobody."""

STORAGE_SHARE = 0.2
"""The part of worlds in which some jobs have volumes."""

ZONE = "topology.kubernetes.io/zone"
"""Where a volume can be used: the leaf that a node had at first, whatever it is called later."""

CROWD_EVERY = 50
"""One world of so many has more gangs that nothing can be done for than a batch holds."""

OWNED = (4, 7)
"""Last digits of the seeds in whose worlds gangs belong to Jobs, JobSets and PyTorchJobs, of which
the last two are kinds that come late."""

CROWD = "crowd"
"""The namespace of these."""

MANY = 600

RATES = (1.0, 1.0, 1.0, 1.3, 1 / 1.3)
"""How fast monotonic clocks run."""


class World:
    """One cluster with its schedulers, as a seed makes it. `faults` strike until `calm`.

    `told` are the UIDs of the owners of pods that each process has heard of.
    """

    def __init__(self, seed: int, story: Story, clock: VirtualClock) -> None:
        chance = stream(seed, "world")
        self.seed = seed
        self.clock = clock
        self.story = story
        self.calm = False
        self.faults: dict[str, Fault] = {}
        self.store = WatchedStore(clock, seed)
        self.admin = MemoryCluster(self.store, identity="admin")
        self.jobs = Jobs(self.store, story.did)
        self.heartbeats = FakeHeartbeats(self.store)
        self.disruption = DisruptionController(self.store)
        self.storage = stream(seed, "storage")
        self.is_crowded = seed % CROWD_EVERY == CROWD_EVERY - 8
        self.has_storage = self.storage.random() < STORAGE_SHARE
        self.provisioner = Provisioner(self.store, self.storage.choice((0.5, 3.0, 20.0)), ZONE)
        self.is_owned = seed % 10 in OWNED
        self.owning = stream(seed, "owning")
        self.told: defaultdict[str, set[str]] = defaultdict(set)
        self.job_number = 0
        self.ledger_format = 1
        self.versions: dict[str, tuple[int, ...]] = {}
        self.past = Past(clock)
        self.books = Books(story)
        self.evictions = Evictions(
            story, self.books, self.store, self.heartbeats.silent, self.jobs.backs_off
        )
        self.books.listeners += [
            Gangs(story, self.books, self.jobs, self._knows).on_commit,
            self.evictions.on_commit,
        ]
        self.store.judges += [
            LivePods(story, self.books, self.store, self.jobs.spoil),
            Volumes(story, self.store),
            self.books,
            self.evictions,
            Versions(story, self.store, self.versions),
            self.past,
        ]
        self.fleet = {
            body["metadata"]["name"]: body
            for body in nodes(chance.choice((1, 1, 2)), 4, chance.choice((2, 4, 4)))
        }
        for body in self.fleet.values():
            labels = body["metadata"]["labels"]
            labels[ZONE] = labels[LEAF]
        self.replicas = {
            name: Replica(self, name, chance.choice(RATES))
            for name in ("a", "b", "c")[: chance.choice((2, 2, 3))]
        }
        self.ended: list[asyncio.Task[None]] = []
        self._tasks: dict[asyncio.Task[Any], None] = {}

    def _knows(self, owner: str) -> bool:
        """Whether who writes just now was told of the owner of that UID."""
        return not self.store.writer or owner in self.told[self.store.writer]

    @property
    def leader(self) -> Replica | None:
        """A replica that thinks it leads."""
        return next((one for one in self.replicas.values() if one.leads), None)

    def replica(self, name: str) -> Replica:
        """The replica of that name; without one, whoever leads, or the first."""
        return self.replicas.get(name) or self.leader or next(iter(self.replicas.values()))

    def striking(self, faults: Iterable[Fault]) -> Iterator[Fault]:
        """Those that may strike now."""
        return iter(()) if self.calm else iter(faults)

    def set_up(self) -> None:
        """Bring up the cluster."""
        self.store.create(NAMESPACES, "", {"metadata": {"name": TEAM}})
        for name, value in PRIORITIES.items():
            policy = "Never" if name == "meek" else "PreemptLowerPriority"
            body = {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy}
            self.store.create(PRIORITY_CLASSES, "", body)
        config.write(self, config.GOOD[0])
        self.jobs.claims()
        for body in self.fleet.values():
            self.store.create(NODES, "", body)
        if self.is_crowded:
            self._be_crowded()

    def _be_crowded(self) -> None:
        """Let pods wait that fit nowhere, each for another reason, as far as words go."""
        self.store.create(NAMESPACES, "", {"metadata": {"name": CROWD}})
        for number in range(MANY):
            body = pod(f"crowd-{number}")
            body["spec"]["nodeSelector"] = {"example.org/kind": str(number)}
            self.store.create(PODS, CROWD, body)
        self.story.did("crowded")

    def start(self) -> None:
        """Bring up the cluster, those who live in it, and the replicas."""
        self.set_up()
        self.spawn(self._live())
        self.spawn(self._bookmarks())
        for replica in self.replicas.values():
            replica.start()

    def patch(self, kind: Kind, target: Target, patch: Body, subresource: str = "") -> None:
        """Let somebody patch an object, if it is there."""
        try:
            record = self.store.find(kind, target)
        except NotFound:
            return
        self.store.update(kind, record, merged(record.body, patch), subresource)

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Let something happen beside everything else."""
        task = asyncio.create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[Any]) -> None:
        """Requests may fail; nothing else may."""
        self._tasks.pop(task, None)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ClusterError):
            trace = "".join(traceback.format_exception(error))
            self.story.broken("the simulation itself works", trace)

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        """Do something in so many seconds."""

        async def wait() -> None:
            await self.clock.sleep(seconds)
            do()

        self.spawn(wait())

    def lose(self, names: Iterable[str]) -> None:
        """These nodes lose power: their kubelets are silent, and nobody answers there."""
        lost = set(names)
        self._disturb(lost - self.heartbeats.silent)
        self.heartbeats.lose(lost)
        self.jobs.kubelets.silent |= lost

    def restore(self, names: Iterable[str]) -> None:
        """These nodes have power again."""
        back = set(names)
        self._disturb(back & self.heartbeats.silent)
        self.heartbeats.restore(back)
        self.jobs.kubelets.silent -= back

    def _disturb(self, nodes: Iterable[str]) -> None:
        for name in nodes:
            self.evictions.disturbed(node_of(name))

    def settle_down(self) -> None:
        """Stop all faults; let every process run, of this version, kubelets included."""
        self.calm = True
        for budget in list(self.store.records(DISRUPTION_BUDGETS)):
            self.store.remove(budget)
        self.jobs.kubelets.silent.clear()
        self.provisioner.full = ()
        self.restore(self.fleet)
        for replica in self.replicas.values():
            replica.machine.resume()
            replica.upgrade()
            replica.start()

    async def close(self) -> None:
        """End everything."""
        for replica in self.replicas.values():
            replica.crash()
        tasks = [*self.ended, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _live(self) -> None:
        """Kubelets, controllers and the collector of pods do their work."""
        while True:
            for _ in range(2):
                self.jobs.kubelets.step()
                self.heartbeats.step()
                await self.clock.sleep(0.5)
            self.disruption.step()
            self.provisioner.step()
            self.jobs.make_up()
            self.jobs.collect(self.clock.monotonic())

    async def _bookmarks(self) -> None:
        while True:
            await self.clock.sleep(30)
            self.store.bookmark()
