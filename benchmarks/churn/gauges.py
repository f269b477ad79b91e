"""What must not grow, read from outside the scheduler."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.throughput.cost import family
from tests.controlplane.api import Api
from tests.e2e.replica import Replica

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
RECORD = "alloc.gpu.scheduling/record"
_REQUESTS = re.compile(r"^fourleaf_api_requests_total\{[^}]*\} (\S+)$", re.M)
_WATCHES = re.compile(r'^apiserver_longrunning_requests\{[^}]*verb="WATCH"[^}]*\} (\S+)$', re.M)


@dataclass(frozen=True, slots=True)
class Sample:
    """One look. `at` in seconds from the start; memory in MiB; requests so far, of both."""

    at: float
    leader: float
    standby: float
    descriptors: int
    pages: int
    gang_leases: int
    other_leases: int
    watches: int
    requests: float
    gangs: int


def look(
    at: float, api: Api, metrics: str, leader: Replica, standby: Replica, gangs: int
) -> Sample:
    """Look at everything once; `metrics` are the API server's, `gangs` have come so far."""
    both = [leader, standby]
    found = Counter(map(_record, api.get(LEASES)["items"]))
    return Sample(
        at=at,
        leader=_memory(leader.pid or 0),
        standby=_memory(standby.pid or 0),
        descriptors=sum(_descriptors(pid) for one in both for pid in family(one.pid or 0)),
        pages=found["page"],
        gang_leases=found["gang"],
        other_leases=found[""],
        watches=sum(int(float(n)) for n in _WATCHES.findall(metrics)),
        requests=sum(
            float(n) for one in both for n in _REQUESTS.findall(one.get("/metrics") or "")
        ),
        gangs=gangs,
    )


def _record(lease: dict[str, Any]) -> str:
    return str((lease["metadata"].get("labels") or {}).get(RECORD, ""))


def _memory(pid: int) -> float:
    """What a process and its children hold now (VmRSS), MiB."""
    total = 0.0
    for one in family(pid):
        with suppress(OSError):
            for line in Path(f"/proc/{one}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    total += int(line.split()[1]) / 1024
    return total


def _descriptors(pid: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0


@dataclass(frozen=True, slots=True)
class Trend:
    """One figure in the second quarter of a run and in the last one, and what it may grow by."""

    name: str
    early: float
    late: float
    may_grow: float

    @property
    def flat(self) -> bool:
        """Whether it has not grown by more than it may."""
        return self.late <= self.early + self.may_grow


TENTH = 0.1


def trends(samples: list[Sample]) -> list[Trend]:
    """What has become of each figure; the first quarter, in which caches fill, is left out."""
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]

    def mean(name: str, read: Callable[[Sample], float], spare: float) -> Trend:
        before, after = fmean(map(read, early)), fmean(map(read, late))
        return Trend(name, before, after, max(spare, TENTH * before))

    def rate(name: str, read: Callable[[Sample], float]) -> Trend:
        before, after = _rate(early, read), _rate(late, read)
        return Trend(name, before, after, TENTH * before)

    return [
        mean("MiB of the leader with its child", lambda s: s.leader, 8),
        mean("MiB of the standby with its child", lambda s: s.standby, 8),
        mean("open files of both", lambda s: s.descriptors, 4),
        mean("watches at the API server", lambda s: s.watches, 2),
        mean("page Leases", lambda s: s.pages, 0),
        mean("gang Leases", lambda s: s.gang_leases, 5),
        mean("other Leases", lambda s: s.other_leases, 0),
        rate("requests/s of both", lambda s: s.requests),
        rate("gangs/s that came", lambda s: s.gangs),
    ]


def _rate(samples: list[Sample], read: Callable[[Sample], float]) -> float:
    first, last = samples[0], samples[-1]
    return (read(last) - read(first)) / (last.at - first.at)
