"""The two schedulers that take turns: how each is started, and what it is given."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmarks.throughput.load import DOMAINS, Gang, pod_group
from tests.controlplane.fleet import LEAF_LABEL
from tests.controlplane.plane import ControlPlane
from tests.controlplane.processes import Process
from tests.e2e.replica import Replica, grant

GATES = {
    "GenericWorkload": True,
    "GangScheduling": True,
    "TopologyAwareWorkloadScheduling": True,
}
SERVED = ("scheduling.k8s.io/v1alpha2=true",)
LIFTED = ("--max-requests-inflight=4000", "--max-mutating-requests-inflight=4000")
"""What the API server takes at once, for both; its defaults are 400 and 200."""

QPS = 10_000
CYCLES = "cycles"
LOST = "times the lead was lost"
COUNTED = (CYCLES, LOST)
"""What is counted beside the seconds of the phases."""

START = 120.0
"""Seconds in which ours has to lead."""

PAGES = (
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    "?labelSelector=alloc.gpu.scheduling/record%3Dpage"
)
_BUCKET = re.compile(r'^fourleaf_event_to_model_seconds_bucket\{le="(.+)"\} (\S+)$', re.M)


def plane() -> ControlPlane:
    """A control plane of the benchmark; the same for every contender."""
    return ControlPlane(gates=GATES, runtime_config=SERVED, apiserver_flags=LIFTED, audit=False)


class Running(Protocol):
    """A scheduler that runs."""

    @property
    def process(self) -> Process:
        """Its process; those of its children are its own too."""
        ...

    def metrics(self) -> str:
        """What it says at /metrics, "" where that is not asked."""
        ...

    def phases(self) -> Counter[str]:
        """Seconds by phase of all its cycles so far, and the numbers of `COUNTED`."""
        ...


class Contender(Protocol):
    """A scheduler that can be started. `scheduler` is what its pods name."""

    @property
    def name(self) -> str:
        """What it is called in the tables."""
        ...

    @property
    def scheduler(self) -> str:
        """What its pods give as their schedulerName."""
        ...

    def start(self, plane: ControlPlane, folder: Path) -> Running:
        """Start it, ready to be given pods, with its logs in `folder` or the plane's."""
        ...

    def group(self, gang: Gang) -> dict[str, Any]:
        """The PodGroup that it is given for `gang`."""
        ...


@dataclass(frozen=True, slots=True)
class _Ours:
    process: Replica

    def metrics(self) -> str:
        return str(self.process.get("/metrics") or "")

    def phases(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for line in self.process.lines():
            if line.get("msg") == "cycle":
                found.update(line["seconds"])
                found[CYCLES] += 1
            found[LOST] += line.get("msg") == "lead_lost"
        return found


@dataclass(frozen=True, slots=True)
class Ours:
    """`fourleaf run` with the rights that ship, its solver in a child process."""

    name: str = "ours"
    scheduler: str = "topology-aware-scheduler"
    options: tuple[str, ...] = field(default=())

    def start(self, plane: ControlPlane, folder: Path) -> Running:
        """Start it and wait until it leads and has a page for every leaf."""
        grant(plane, "scheduler-a")
        replica = Replica(plane, "scheduler-a", folder, *self.options)
        replica.start()
        try:
            with plane.api() as api:
                nodes = api.get("/api/v1/nodes")["items"]
                leaves = {node["metadata"]["labels"][LEAF_LABEL] for node in nodes}
                replica.wait_ready(
                    lambda: len(api.get(PAGES)["items"]) >= len(leaves) and replica.leads, START
                )
        except BaseException:
            replica.stop()
            raise
        return _Ours(replica)

    def group(self, gang: Gang) -> dict[str, Any]:
        """A bare PodGroup: the rule for its size is in the config of the scheduler."""
        return pod_group(gang)


@dataclass(frozen=True, slots=True)
class _Native:
    process: Process

    def metrics(self) -> str:
        return ""

    def phases(self) -> Counter[str]:
        return Counter()


@dataclass(frozen=True, slots=True)
class Native:
    """kube-scheduler with gangs and topology switched on and its client's limits lifted."""

    name: str = "native"
    scheduler: str = "default-scheduler"

    def start(self, plane: ControlPlane, folder: Path) -> Running:  # noqa: ARG002 - see `Contender`
        """Start it and wait until it is ready."""
        name = "kube-scheduler"
        connection = {"kubeconfig": str(plane.kubeconfig(name)), "qps": QPS, "burst": QPS}
        return _Native(plane.scheduler({"clientConnection": connection}))

    def group(self, gang: Gang) -> dict[str, Any]:
        """A PodGroup that is kept within a leaf, an aligned pair or an aligned quad."""
        return pod_group(gang, DOMAINS.get(gang.size, ""))


def event_to_model(before: str, after: str) -> dict[str, float]:
    """Upper bounds in seconds of the percentiles 50, 90 and 99 between two readings."""
    old = {le: float(value) for le, value in _BUCKET.findall(before)}
    new = [(le, float(value) - old.get(le, 0.0)) for le, value in _BUCKET.findall(after)]
    total = new[-1][1] if new else 0.0
    found = {}
    for share in (0.5, 0.9, 0.99):
        name = f"p{share * 100:.0f}"
        found[name] = next((float(le) for le, n in new if total and n >= share * total), 0.0)
    return found
