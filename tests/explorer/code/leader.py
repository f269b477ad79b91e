"""One leader: the real ledger, and a plan of what it does with it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.binding import Binder
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials
from fourleaf.k8s_bridge.ledger.commit import CommitRequest, Committer
from fourleaf.k8s_bridge.ledger.dry_run import DryRun
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from fourleaf.k8s_bridge.ledger.formats.codec import read_page
from fourleaf.k8s_bridge.ledger.free_devices import held_devices
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.names import GANG, RECORD
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.ledger.reconciler import Reconciler
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import Member, Page
from fourleaf.k8s_bridge.ledger.takeover import Takeover, find
from fourleaf.model.gang import GangKey
from tests.explorer.code.door import Door
from tests.explorer.code.scenario import Act, Dies, Keep, Place, Rest, TakeOver
from tests.explorer.code.store import CountingStore
from tests.explorer.code.turns import Turns
from tests.explorer.code.view import View
from tests.k8s_bridge.ledger.harness import SYSTEM, TEAM

QUIET = structlog.wrap_logger(structlog.ReturnLogger(), processors=[lambda *_: ""])


LONG = 3600.0
"""Seconds, longer than anything waits."""
WALL = 1767312000.0
"""Seconds since the epoch: a day after everything was created."""


class StandingClock:
    """A clock that stands, but for `skip`: every sleep is over at once, and takes no time."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Seconds."""
        return self.now

    def wall(self) -> float:
        """Always the same."""
        return WALL

    async def sleep(self, seconds: float) -> None:
        """Give way once."""
        await asyncio.sleep(0)

    def skip(self) -> None:
        """Let everything be over that anybody waits for."""
        self.now += LONG


class UnhurriedClock:
    """A leader's clock for limits of time: none ever ends, as no answer here takes any time."""

    def __init__(self, clock: StandingClock) -> None:
        self.clock = clock

    def monotonic(self) -> float:
        """Seconds."""
        return self.clock.monotonic()

    def wall(self) -> float:
        """Always the same."""
        return self.clock.wall()

    async def sleep(self, seconds: float) -> None:
        """Wait until it is cancelled."""
        await asyncio.get_running_loop().create_future()


class Leader:
    """The ledger of one process, and what is left of its plan.

    `history` tells apart all that may have happened in the process: it is what the process was
    told by each answer, or, when nothing runs but the plan itself, what its book says.
    """

    def __init__(
        self,
        name: str,
        store: CountingStore,
        loop: Turns,
        late: list[Any],
        layout: Sequence[Page],
    ) -> None:
        self.name = name
        self.loop = loop
        self.layout = layout
        self.door = Door(loop, late)
        self.clock = StandingClock()
        self.view = self._sees(store)
        self.cluster = MemoryCluster(store).client(name, self.door)
        self.records = Records(self.cluster, SYSTEM, name, self.clock)
        self.ledger = Ledger()
        self.epoch = 1
        self.end = ""
        self.history = b""
        self.seen = b""
        self.asked = True
        self._tasks: list[asyncio.Task[None]] = []
        self._work()
        self._names = 0
        self._act = 0
        self._keeps = False
        self._pods: dict[str, PodSeen | None] = {}

    def start(self, plan: Sequence[Act]) -> None:
        """Set out on `plan`."""
        self.main = self.loop.create_task(self._run(plan))

    def know(self, records: Sequence[Body]) -> None:
        """Lead already, with all pages as they stand."""
        for body in records:
            self.ledger.put_page(read_page(body))

    def check(self) -> None:
        """Raise what has ended the process, unless the ledger means it to end so."""
        if self.main.done() and not self.main.cancelled():
            self.main.result()

    @property
    def idle(self) -> bool:
        """Whether another look would show nothing new."""
        return not self.asked and not self._put_off() and self.seen == self._sight()

    @property
    def key(self) -> tuple[object, ...]:
        """Tells apart all that the process may know."""
        return self.end, self.history, self.asked, self.seen

    def note(self, *what: bytes) -> None:
        """Remember what the process was told."""
        self.history = hashlib.blake2b(b"\0".join((self.history, *what)), digest_size=16).digest()

    def _sees(self, store: CountingStore) -> Any:
        """The pods, as the ledger is told of them."""
        return View(store)

    async def _run(self, plan: Sequence[Act]) -> None:
        try:
            for number, act in enumerate(plan):
                self._act = number
                self._at_rest()
                await self._do(act)
            self.end = "done"
        except Fenced:
            self.end = "fenced"
        except ClusterError as error:
            self.end = f"failed: {error}"
        except asyncio.CancelledError:
            self.end = self.end or "killed"
        finally:
            for task in self._tasks:
                task.cancel()

    async def _do(self, act: Act) -> None:
        match act:
            case TakeOver():
                await self._take_over()
            case Place(gang, nodes):
                await self._place(gang, nodes)
            case Rest():
                await self._rest()
            case Keep():
                self._keeps = True
                while True:
                    await self._rest()
                    if self._strangers():
                        await self.keeping.sweep()
                    else:
                        await self._look()
            case Dies(nodes):
                self.view.dead = set(nodes)

    async def _take_over(self) -> None:
        found = await find(self.records)
        self.epoch = found.epoch + 1
        await Takeover(self.records, self.ledger, self.epoch).fence(found)
        self._work()
        await self.keeping.lay_out(self.layout)

    def _work(self) -> None:
        binder = Binder(self.cluster, self.view, self.clock)
        self.keeping = Reconciler(
            self.cluster,
            self.records,
            self.ledger,
            self.view,
            binder,
            self.clock,
            self.epoch,
            self,
            self._start,
            _log=QUIET,
        )
        self.committer = Committer(
            self.records,
            self.ledger,
            self.view,
            self.epoch,
            BindingTrials(DryRun(self.cluster, self.clock), self.clock, self._start, lambda: None),
            self.keeping.forward,
            self._new_name,
        )

    async def _place(self, gang: str, nodes: Sequence[str]) -> None:
        """Plan as the planner does: pods that wait, nodes that nobody holds."""
        await self.keeping.run_once(tidy=False)
        waiting = [
            pod
            for record in self.view.store.pods()
            if record.metadata["annotations"]["topology.scheduler/gang"] == gang
            and (pod := self.view.seen(record.metadata["uid"])) is not None
            and not pod.node
            and not pod.deleting
            and self.ledger.commit_of(pod.pod.uid) is None
        ]
        held = held_devices(self.ledger, self.view, nodes)
        if len(waiting) < len(nodes) or any(held.values()):
            return
        members = tuple(
            Member(pod.pod, node, (0,)) for pod, node in zip(waiting, nodes, strict=True)
        )
        await self.committer.commit([CommitRequest(GangKey(TEAM, gang), members)])

    async def _rest(self) -> None:
        while True:
            while self._tasks:
                await self._tasks.pop()
            self._at_rest()
            self._wake()
            if not self.ledger.open_commits():
                self.seen, self.asked = self._sight(), False
                return
            self.seen, self.asked = self._sight(), False
            await self.keeping.run_once()
            while self._tasks:
                await self._tasks.pop()
            if not self.asked and self.ledger.open_commits():
                await self._look()

    async def _look(self) -> None:
        """Wait for a turn; whatever was put off until later is due then."""
        await self.door.look()
        self.clock.skip()

    def _strangers(self) -> list[str]:
        """Gang leases that only a sweep would find; sweeps come by the clock, and only read."""
        leases = self.view.store.records(LEASES, SYSTEM)
        gangs = [one.metadata["name"] for one in leases if one.labels.get(RECORD) == GANG]
        return [name for name in gangs if self._keeps and self.ledger.lease(name) is None]

    def _wake(self) -> None:
        """What a watch would tell: pods have changed that commits are about."""
        for page in self.ledger.pages:
            for member in (member for entry in page.entries for member in entry.members):
                seen = self.view.seen(member.pod.uid)
                if self._pods.get(member.pod.uid, seen) != seen:
                    self.ledger.wake(member.pod.uid)
                self._pods[member.pod.uid] = seen

    def _at_rest(self) -> None:
        """Nothing but the plan runs: its place and the book are all that the process knows."""
        if all(task.done() for task in self._tasks):
            self.history = b""
            self.note(f"{self._act} {self._names}".encode(), self._sight())

    def _known(self) -> bytes:
        ledger = self.ledger
        known = (
            list(ledger.pages),
            list(ledger.leases),
            list(ledger.commits()),
            sorted(ledger._open),
        )
        pods = sorted(self._pods.items())
        dead = sorted(self.view.dead)
        return f"{known} {pods} {dead} {self.epoch} {self._put_off()}".encode()

    def _put_off(self) -> list[str]:
        """Commits that are not to be let go yet, and records that are not to be written yet."""
        retries = [
            *self.keeping._rollbacks._refused.items(),
            *self.keeping._retries._refused.items(),
        ]
        return sorted(name for name, retry in retries if retry.due > self.clock.now)

    def _sight(self) -> bytes:
        sight = self.view.store.digest_of_pods() + self._known() + repr(self._strangers()).encode()
        return hashlib.blake2b(sight, digest_size=16).digest()

    def _new_name(self) -> str:
        self._names += 1
        return f"{self.name}{self._names}"

    def _start(self, coroutine: Any) -> asyncio.Task[None]:
        task = self.loop.create_task(coroutine)
        self._tasks.append(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A process in which one task has failed ends as a whole."""
        error = None if task.cancelled() else task.exception()
        if error is None or self.end:
            return
        if not isinstance(error, Fenced | ClusterError):
            raise error
        self.end = "fenced" if isinstance(error, Fenced) else f"failed: {error}"
        self.main.cancel()

    def took_claim(self, body: Any) -> None:
        """There are no claims."""

    def took(self, body: Body) -> None:
        """The view knows."""

    def bound(self, commit: Commit, member: Member) -> None:
        """The view knows."""

    def all_bound(self, commit: Commit, members: tuple[Member, ...]) -> None:
        """No plugin is told."""

    def rolled_back(self, commit: Commit, why: str) -> None:
        """Nobody is told."""
