"""A scheduler that kills itself at a chosen write.

`python -m tests.e2e.dying KUBECONFIG WHEN N [FORMAT...] [--namespace NAMESPACE]`: WHEN is `before`
or `after`; with `later-` in front, writes are counted anew from SIGUSR1 on. With formats of records
it knows these alone, and so stands in for an older version. Only writes of a commit count: Leases
other than the leader's, ResourceClaims, and bindings. It prints a line for each.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from fourleaf.k8s_bridge.cluster.kinds import LEASES, RESOURCE_CLAIMS, Kind
from fourleaf.k8s_bridge.cluster.live import LiveCluster, connect
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.k8s_bridge.election.election import Timing
from fourleaf.k8s_bridge.leader import CyclePace
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from fourleaf.k8s_bridge.ledger.names import LEADER
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.k8s_bridge.scheduling.async_solver import AsyncSolver

T = TypeVar("T")
QUICK = Timing(hold=1, renew=0.2, margin=0.3)
"""Of who is to die: its Lease ends soon after it."""
STEADY = Timing(hold=6, renew=0.2, margin=1.5)
"""Of who is not: a machine that is busy for a second costs it no lead, and so no write is made
twice."""
TIDY = CyclePace(tidy=0.1)


class Dying(LiveCluster):
    """Ends the process, as SIGKILL does, before or after its write number `at` of a commit."""

    when = "never"
    at = 0
    count = 0

    @classmethod
    def of(cls, cluster: LiveCluster, when: str, at: int) -> Dying:
        """The same client, doomed. Counting starts with the first write of a commit."""
        cluster.__class__ = cls
        assert isinstance(cluster, Dying)
        cluster.when, cluster.at = when, at
        return cluster

    def arm(self) -> None:
        """From now on its writes are counted, and one of them is its last."""
        self.count, self.when = 0, self.when.removeprefix("later-")
        os.write(1, b"armed\n")

    async def create(self, kind: Kind, namespace: str, body: Body) -> Body:
        """Create, perhaps for the last time."""
        counts = kind is LEASES and body["metadata"]["name"].startswith("gang-")
        return await self._last(super().create(kind, namespace, body), counts, "create")

    async def replace(self, kind: Kind, target: Target, body: Body) -> Body:
        """Replace, perhaps for the last time."""
        counts = kind is LEASES and target.name != LEADER and self._in_commit(body)
        return await self._last(super().replace(kind, target, body), counts, "replace")

    async def delete(self, kind: Kind, target: Target) -> None:
        """Delete, perhaps for the last time."""
        await self._last(super().delete(kind, target), kind is LEASES, "delete")

    async def patch(self, kind: Kind, target: Target, patch: Body, subresource: str = "") -> Body:
        """Patch, perhaps for the last time."""
        write = super().patch(kind, target, patch, subresource)
        return await self._last(write, kind is RESOURCE_CLAIMS, f"claim {subresource}".strip())

    async def bind(self, binding: Binding, dry_run: bool = False) -> None:
        """Bind, perhaps for the last time."""
        await self._last(super().bind(binding, dry_run), not dry_run, "bind")

    def _in_commit(self, body: Body) -> bool:
        """Whether a commit is under way; pages are also written when a leader takes over."""
        return self.count > 0 or '"commit"' in str(body["metadata"].get("annotations"))

    async def _last(self, write: Awaitable[T], counts: bool, what: str) -> T:
        if not counts:
            return await write
        self.count += 1
        number = self.count
        os.write(1, f"write {number} {what}\n".encode())
        if number == self.at and self.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = await write
        if number == self.at and self.when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


async def main(kubeconfig: str, when: str, at: int, options: SchedulerOptions) -> None:
    """Run until killed."""
    clock = SystemClock()
    cluster = Dying.of(await connect(kubeconfig), when, at)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, cluster.arm)
    async with AsyncSolver() as solver:
        scheduler = Scheduler(
            cluster, clock, solver.plan, options, lambda one: Reporter(one, SchedulerMetrics())
        )
        await scheduler.run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, kind in (("kubeconfig", str), ("when", str), ("at", int)):
        parser.add_argument(name, type=kind)
    parser.add_argument("formats", type=int, nargs="*", default=KNOWN)
    parser.add_argument("--namespace", default="kube-system")
    given = parser.parse_args()
    timing = STEADY if given.when == "never" else QUICK
    hurried = SchedulerOptions(
        given.namespace, given.namespace, dry_run="never", timing=timing, pace=TIDY
    )
    known = replace(hurried, formats=tuple(given.formats))
    asyncio.run(main(given.kubeconfig, given.when, given.at, known))
