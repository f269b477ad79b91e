"""Small gangs that come and go without end, on a cluster full of other pods."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.throughput.caller import PODS, Bindings, Caller, together
from benchmarks.throughput.contenders import Ours, Running, event_to_model, plane
from benchmarks.throughput.cost import Wire, all_cpu_seconds, cpu_seconds, family, peaks_mib
from benchmarks.throughput.figures import percentile
from benchmarks.throughput.judge import judge
from benchmarks.throughput.load import NAMESPACE, WHOLE, Gang, fabric, pod
from tests.controlplane.fleet import create_nodes

NODES = 1000
FOREIGN = 10_000
"""Pods of others without GPUs, ten on each node."""

RATE = 100
"""Gangs a second that are wanted."""

SECONDS = 25


@dataclass(frozen=True, slots=True)
class Load:
    """Gangs of one pod to `largest`, each size as often; every pod wants so many `gpus`."""

    largest: int
    gpus: int

    def __str__(self) -> str:
        pods = "1 pod" if self.largest == 1 else f"1 to {self.largest} pods"
        return f"{pods} of {self.gpus} GPU{'s' if self.gpus > 1 else ''}"


LOADS = (Load(1, WHOLE), Load(4, 1), Load(4, WHOLE))
"""Single whole nodes; gangs that the fabric has room for; gangs that want more than it has."""

LIFE = 2.0
"""Seconds from the binding of a whole gang until its pods are deleted."""

DRAIN = 10.0
"""Seconds after the last arrival in which what still waits may be bound."""

_FOREIGN_PODS = "/api/v1/namespaces/foreign/pods"


@dataclass(frozen=True, slots=True)
class Sustained:
    """What came of it. Seconds, bytes, MiB; `waits` of gangs, from asked for to bound.

    `rest_cpu` are CPU seconds of etcd and the API server, of this program, and of all else.
    """

    came: int
    bound: int
    seconds: float
    bound_in_time: int
    pods_in_time: int
    backlog: int
    waits: tuple[float, ...]
    cpu: float
    rest_cpu: tuple[float, float, float]
    memory: tuple[float, ...]
    wire: int
    model: dict[str, float]
    breaches: tuple[str, ...]

    def figures(self) -> list[tuple[str, str]]:
        """Name and value of every figure."""
        waits = " / ".join(f"{percentile(self.waits, share):.2f}" for share in (0.5, 0.9, 0.99))
        memory = " + ".join(f"{one:.0f}" for one in self.memory)
        rest = " / ".join(f"{one / self.seconds:.2f}" for one in self.rest_cpu)
        model = " / ".join(f"{seconds * 1000:g}" for seconds in self.model.values())
        return [
            ("gangs/s that came", f"{self.came / self.seconds:.1f}"),
            ("gangs/s bound while they came", f"{self.bound_in_time / self.seconds:.1f}"),
            ("pods/s bound while they came", f"{self.pods_in_time / self.seconds:.1f}"),
            ("gangs never bound", str(self.came - self.bound)),
            ("most gangs waiting at once", str(self.backlog)),
            ("s from a gang's last create to its last binding, p50 / p90 / p99", waits),
            ("cores used by ours", f"{self.cpu / self.seconds:.2f}"),
            (f"cores of {os.cpu_count()} used by control plane / this program / others", rest),
            ("peak MiB", f"{sum(self.memory):.0f} ({memory})"),
            ("MB/s on the wire", f"{self.wire / self.seconds / 1e6:.2f}"),
            (
                "kB on the wire for each pod bound",
                f"{self.wire / 1e3 / max(1, self.pods_in_time):.1f}",
            ),
            ("ms from event to model, at most, p50 / p90 / p99", model),
            ("breaches", str(len(self.breaches))),
        ]


def sustained(seed: int, load: Load) -> Sustained:
    """Ours alone: 1000 nodes, 10,000 bound pods of others, 100 gangs a second.

    Gangs name themselves by annotation, and two seconds after the last pod of a gang was bound
    its pods are deleted. What is under way when the last gang comes is not bound while they
    come, so of 100 gangs a second that each take half a second 98 are bound in 25 seconds.
    Bytes are the scheduler's, TLS included; most are those of its watch of all pods.
    """
    nodes = fabric(NODES)
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        asyncio.run(create_nodes(control.kubeconfig(), nodes))
        with control.api() as api:
            for name in (NAMESPACE, "foreign"):
                api.create("/api/v1/namespaces", {"metadata": {"name": name}})
        asyncio.run(_foreign(control.kubeconfig(), [n["metadata"]["name"] for n in nodes]))
        core = family(os.getpid())[1:]
        running = Ours().start(control, Path(folder))
        try:
            stream = _Stream(running, nodes, seed, load, core)
            return asyncio.run(stream.run(control.kubeconfig()))
        finally:
            running.process.stop()


async def _foreign(kubeconfig: Path, nodes: list[str]) -> None:
    async with Caller(kubeconfig) as caller:

        async def create(number: int) -> None:
            body = pod(f"other-{number}", "default-scheduler")
            body["spec"]["nodeName"] = nodes[number % len(nodes)]
            body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "10m"}}
            await caller.request("POST", _FOREIGN_PODS, body)

        await together(range(FOREIGN), create)


class _Stream:
    def __init__(
        self,
        running: Running,
        nodes: Sequence[dict[str, Any]],
        seed: int,
        load: Load,
        core: Sequence[int],
    ) -> None:
        self._running = running
        self._core = core
        self._nodes = nodes
        self._gpus = load.gpus
        dice = random.Random(seed)  # noqa: S311 - sizes, not secrets
        self._gangs = [
            Gang(f"s{number:05}", dice.randint(1, load.largest)) for number in range(RATE * SECONDS)
        ]
        self._waits: dict[str, float] = {}
        self._waiting = 0
        self._backlog = 0
        self._until = 0.0
        self._bound: dict[str, float] = {}
        self._missing = {gang.name: gang.size for gang in self._gangs}
        self._whole = {gang.name: asyncio.Event() for gang in self._gangs}

    async def run(self, kubeconfig: Path) -> Sustained:
        """Let the gangs come and go, and tell what became of them."""
        async with Caller(kubeconfig) as caller, Bindings(caller, self._saw) as bindings:
            self._caller = caller
            await self._warm_up(bindings)
            pid = self._running.process.pid or 0
            wire = Wire()
            wire.look(family(pid))
            carried, cpu, before = wire.carried, self._cpu(), self._running.metrics()
            breaches: list[str] = []
            start = time.perf_counter()
            self._until = start + SECONDS + DRAIN
            async with asyncio.TaskGroup() as tasks:
                watching = tasks.create_task(self._judge_now_and_then(breaches))
                for number, gang in enumerate(self._gangs):
                    await asyncio.sleep(max(0.0, start + number / RATE - time.perf_counter()))
                    tasks.create_task(self._live(gang, bindings))
                end = time.perf_counter()
                ours, *rest = (now - then for now, then in zip(self._cpu(), cpu, strict=True))
                wire.look(family(pid))
                carried = wire.carried - carried
                in_time = sum(at <= end for at in self._bound.values())
                pods_in_time = len(bindings.at) - 1
                await asyncio.sleep(max(0.0, self._until - end))
                watching.cancel()
            await self._all_whole()
            return Sustained(
                came=len(self._gangs),
                bound=len(self._bound),
                seconds=end - start,
                bound_in_time=in_time,
                pods_in_time=pods_in_time,
                backlog=self._backlog,
                waits=tuple(self._waits.values()),
                cpu=ours,
                rest_cpu=(rest[0], rest[1], rest[2] - ours - rest[0] - rest[1]),
                memory=peaks_mib(family(pid)),
                wire=carried,
                model=event_to_model(before, self._running.metrics()),
                breaches=(*breaches, *self._partial()),
            )

    def _cpu(self) -> tuple[float, float, float, float]:
        """CPU seconds so far: ours, the control plane's, this program's, and the machine's."""
        ours = cpu_seconds(family(self._running.process.pid or 0))
        return ours, cpu_seconds(self._core), time.process_time(), all_cpu_seconds()

    async def _warm_up(self, bindings: Bindings) -> None:
        gang = Gang("warm-up", 1)
        await self._create(gang)
        if not await bindings.all_of(1, 60):
            raise SystemExit(f"nothing was bound:\n{self._running.process.tail()}")
        await self._delete(gang)
        await asyncio.sleep(LIFE)

    def _saw(self, pod: str) -> None:
        """A pod is bound; the last one of its gang makes that whole."""
        name = pod.rpartition("-")[0]
        if name in self._missing:
            self._missing[name] -= 1
            if self._missing[name] == 0:
                self._whole[name].set()

    async def _live(self, gang: Gang, bindings: Bindings) -> None:
        """One gang from its creation to its end."""
        self._waiting += 1
        await self._create(gang)
        asked = time.perf_counter()
        self._backlog = max(self._backlog, self._waiting)
        try:
            await asyncio.wait_for(self._whole[gang.name].wait(), self._until - asked)
        except TimeoutError:
            return
        self._waiting -= 1
        self._bound[gang.name] = max(bindings.at[name] for name in gang.pods())
        self._waits[gang.name] = max(0.0, self._bound[gang.name] - asked)
        await asyncio.sleep(LIFE)
        await self._delete(gang)

    async def _create(self, gang: Gang) -> None:
        told = {
            "topology.scheduler/gang": gang.name,
            "topology.scheduler/gang-size": str(gang.size),
        }
        for name in gang.pods():
            body = pod(name, Ours().scheduler, annotations=told, gpus=self._gpus)
            await self._caller.request("POST", PODS, body)

    async def _delete(self, gang: Gang) -> None:
        for name in gang.pods():
            await self._caller.request("DELETE", f"{PODS}/{name}")

    async def _all_whole(self) -> None:
        """Wait while gangs are bound in part: what is decided is bound within this time."""
        for _ in range(100):
            if not self._partial():
                return
            await asyncio.sleep(0.1)

    def _partial(self) -> list[str]:
        """Gangs that are bound in part."""
        return [
            f"{gang.name}: {gang.size - self._missing[gang.name]} of {gang.size} pods are bound"
            for gang in self._gangs
            if 0 < self._missing[gang.name] < gang.size
        ]

    async def _judge_now_and_then(self, breaches: list[str]) -> None:
        """Whether two gangs hold the same, looked at from lists while everything moves.

        Gangs that are being bound or deleted are in part for a moment, so that is no breach.
        """
        while True:
            await asyncio.sleep(5.0)
            listed = await self._caller.request("GET", PODS)
            verdict = judge(self._nodes, listed["items"], self._gangs)
            breaches += [*verdict.shared_devices, *verdict.oversubscribed]
