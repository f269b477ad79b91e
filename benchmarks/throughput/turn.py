"""One turn: a fresh control plane, one scheduler, all gangs; what that took and came to."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.throughput.caller import GROUPS, PODS, Bindings, Caller, together
from benchmarks.throughput.contenders import Contender, Running, plane
from benchmarks.throughput.cost import Meter, Wire, all_cpu_seconds, cpu_seconds, family, peaks_mib
from benchmarks.throughput.judge import Verdict, judge
from benchmarks.throughput.load import NAMESPACE, Case, Gang, fabric, gangs, pod
from tests.controlplane.fleet import create_nodes

WARM_UP = 60.0
"""Seconds in which the first gang has to be bound."""

CALM = 4.0
"""Seconds without load before the first create: what the warm-up left is tidied by then."""

AFTER = 5.0
"""Seconds after the last binding before requests are counted: events and statuses come late."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn came to.

    `pods` were bound, of `gangs` gangs. Times are seconds since the first create: `created`
    the last create's answer, `bound` the last binding. `waits` are seconds of each pod from the
    answer to the create that let it be scheduled until it was seen bound, by size of the gang.
    `requests` and `wire` (bytes) are the scheduler's, by kind; `cpu` and `rest_cpu` (etcd, API
    server and this benchmark) are CPU seconds until the last binding, `others_cpu` those of
    everything else on the machine; `memory` is the peak of each of its processes in MiB;
    `phases` are seconds of its cycles, where it tells them.
    """

    pods: int
    gangs: int
    created: float
    bound: float
    waits: dict[int, list[float]]
    requests: Counter[str]
    cpu: float
    rest_cpu: float
    others_cpu: float
    memory: tuple[float, ...]
    wire: int
    phases: Counter[str]
    verdict: Verdict


def _writes(answered: Counter[str]) -> Counter[str]:
    return Counter({what: n for what, n in answered.items() if "pods" in what})


def take_turn(
    contender: Contender, case: Case, seed: int, patience: float, released: bool = False
) -> Turn:
    """Let `contender` place all gangs of `case` on a control plane of its own.

    A turn ends when all is bound, or when nothing was for `patience` seconds. `released` gangs
    have their pods beforehand, and what is created is the PodGroup that they wait for.
    """
    nodes = fabric(case.nodes)
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        asyncio.run(create_nodes(control.kubeconfig(), nodes))
        with control.api() as api:
            api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        core = family(os.getpid())[1:]
        running = contender.start(control, Path(folder))
        try:
            turn = _Turn(contender, running, gangs(case, seed), nodes, core, patience, released)
            return asyncio.run(turn.run(control.kubeconfig()))
        finally:
            running.process.stop()


class _Turn:
    def __init__(
        self,
        contender: Contender,
        running: Running,
        load: Sequence[Gang],
        nodes: Sequence[dict[str, Any]],
        core: list[int],
        patience: float,
        released: bool,
    ) -> None:
        self.contender = contender
        self.running = running
        self.load = load
        self.nodes = nodes
        self.core = core
        self.patience = patience
        self.released = released

    async def run(self, kubeconfig: Path) -> Turn:
        async with Caller(kubeconfig) as caller:
            await self._warm_up(caller)
            await asyncio.sleep(CALM)
            return await self._measured(caller)

    async def _warm_up(self, caller: Caller) -> None:
        """One gang of one pod through everything, so that nothing is done for the first time."""
        gang = Gang("warm-up", 1)
        async with Bindings(caller) as bindings:
            await self._create_group(caller, gang)
            await self._create_pod(caller, gang.pods()[0], gang)
            if not await bindings.all_of(1, WARM_UP):
                raise SystemExit(
                    f"{self.contender.name} bound nothing in {WARM_UP:.0f} s:\n"
                    f"{self.running.process.tail()}"
                )
        await caller.request("DELETE", f"{PODS}/{gang.pods()[0]}")
        await caller.request("DELETE", f"{GROUPS}/{gang.name}")

    async def _measured(self, caller: Caller) -> Turn:
        if self.released:
            await self._create_pods(caller)
            await self._calm(caller)
        pid = self.running.process.pid or 0
        phases = self.running.phases()
        wire = Wire()
        wire.look(family(pid))
        carried = wire.carried
        scheduler = Meter(lambda: cpu_seconds(family(pid)))
        rest = Meter(lambda: cpu_seconds(self.core) + time.process_time())
        machine = Meter(all_cpu_seconds)
        async with Bindings(caller) as bindings:
            before = await caller.answered()
            async with scheduler, rest, machine:
                start = time.perf_counter()
                answered = await self._give(caller)
                await bindings.all_of(len(answered), self.patience)
                await asyncio.sleep(AFTER)
            at = bindings.at
            sent = await caller.answered() - before
        sent.subtract({"POST podgroups": len(self.load)})
        if not self.released:
            sent.subtract({"POST pods": len(answered)})
        wire.look(family(pid))
        listed = await caller.request("GET", PODS)
        waits: defaultdict[int, list[float]] = defaultdict(list)
        for gang in self.load:
            waits[gang.size] += [at[name] - answered[name] for name in gang.pods() if name in at]
        end = max(at.values(), default=start)
        return Turn(
            pods=len(at),
            gangs=len(self.load),
            created=max(answered.values()) - start,
            bound=end - start,
            waits=dict(waits),
            requests=+sent,
            cpu=scheduler.until(end),
            rest_cpu=rest.until(end),
            others_cpu=machine.until(end) - scheduler.until(end) - rest.until(end),
            memory=peaks_mib(family(pid)),
            wire=wire.carried - carried,
            phases=self.running.phases() - phases,
            verdict=judge(self.nodes, listed["items"], self.load),
        )

    async def _give(self, caller: Caller) -> dict[str, float]:
        """Let the scheduler have all gangs; when each pod could first be scheduled."""
        complete: dict[str, float] = {}

        async def create(gang: Gang) -> None:
            await self._create_group(caller, gang)
            complete.update(dict.fromkeys(gang.pods(), time.perf_counter()))

        await together(self.load, create)
        return complete if self.released else await self._create_pods(caller)

    async def _create_pods(self, caller: Caller) -> dict[str, float]:
        """Create all pods, gang by gang; when each was answered."""
        answered: dict[str, float] = {}

        async def create(item: tuple[str, Gang]) -> None:
            await self._create_pod(caller, *item)
            answered[item[0]] = time.perf_counter()

        await together(((name, gang) for gang in self.load for name in gang.pods()), create)
        return answered

    async def _calm(self, caller: Caller) -> None:
        """Wait until nothing is written about the pods any more."""
        before: Counter[str] | None = None
        while before != (before := _writes(await caller.answered())):
            await asyncio.sleep(CALM)

    async def _create_group(self, caller: Caller, gang: Gang) -> None:
        await caller.request("POST", GROUPS, self.contender.group(gang))

    async def _create_pod(self, caller: Caller, name: str, gang: Gang) -> None:
        await caller.request("POST", PODS, pod(name, self.contender.scheduler, gang.name))
