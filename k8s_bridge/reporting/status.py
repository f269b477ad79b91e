"""The state of the running scheduler, as `/status` and the commands of people show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from fourleaf.k8s_bridge.ledger.format_usage import LedgerUse
from fourleaf.k8s_bridge.reporting.installed_extensions import InstalledExtension
from fourleaf.model.config.spec import API_VERSION
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.problems import Problem
from fourleaf.model.reasons.json import reason_document
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Queued:
    """A gang that waits. `since` in seconds since the epoch."""

    gang: GangKey
    priority: int
    gpus: int
    pods: int
    since: float
    reason: Reason


def queue_of(snapshot: Snapshot, plan: Plan) -> tuple[Queued, ...]:
    """The gangs that wait after `plan`, made for `snapshot`."""
    gangs = snapshot.gangs_by_key
    return tuple(
        Queued(
            one.gang,
            gangs[one.gang].priority,
            gangs[one.gang].gpus,
            sum(len(role.pods) for role in gangs[one.gang].roles),
            gangs[one.gang].created,
            one.reason,
        )
        for one in plan.waiting
    )


@dataclass(frozen=True, slots=True)
class LastCycle:
    """The newest cycle that decided something. `at` in seconds since the epoch."""

    cycle_id: str
    at: float
    seconds: float
    status: str
    gap: float | None
    placed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Status:
    """What one process knows of itself.

    `beat_age`: seconds since its loop was last seen alive. `unsynced`: kinds whose cache is
    not complete yet. `holder` holds the leader's Lease. `cycles` counts them by status. `ledger`
    says in which formats the records are. `plugins` are installed.
    """

    identity: str
    version: str
    leader: bool
    holder: str
    epoch: int
    beat_age: float
    unsynced: tuple[str, ...] = ()
    cycles: tuple[tuple[str, int], ...] = ()
    last: LastCycle | None = None
    queue: tuple[Queued, ...] = ()
    config_source: str = ""
    config_problems: tuple[Problem, ...] = ()
    ledger: LedgerUse = field(default_factory=LedgerUse)
    plugins: tuple[InstalledExtension, ...] = ()


class StatusSource(Protocol):
    """A source of the scheduler's state."""

    def status(self) -> Status:
        """The state at this moment. Quick: it is asked for by probes."""


def status_document(status: Status) -> dict[str, Any]:
    """`status` as the JSON document that `/status` serves."""
    last = status.last
    return {
        "apiVersion": API_VERSION,
        "kind": "Status",
        "identity": status.identity,
        "version": status.version,
        "leader": status.leader,
        "holder": status.holder,
        "epoch": status.epoch,
        "beatAgeSeconds": round(status.beat_age, 3),
        "ready": not status.unsynced,
        "unsynced": list(status.unsynced),
        "cycles": dict(status.cycles),
        "lastCycle": None
        if last is None
        else {
            "id": last.cycle_id,
            "at": last.at,
            "seconds": round(last.seconds, 6),
            "status": last.status,
            "gap": last.gap,
            "placed": last.placed,
            "waiting": last.waiting,
        },
        "config": config_document(status.config_source, status.config_problems),
        "ledger": _ledger(status.ledger),
        "plugins": [asdict(one) for one in status.plugins],
        "queue": [_queued(entry) for entry in status.queue],
    }


def config_document(source: str, problems: Sequence[Problem]) -> dict[str, Any]:
    """Where the config in force is from, and why the newest edit is not the one, if it is not."""
    return {
        "source": source,
        "valid": not problems,
        "problems": [_problem(problem) for problem in problems],
    }


def _ledger(use: LedgerUse) -> dict[str, Any]:
    return {
        "writes": use.written,
        "formats": {str(number): count for number, count in use.formats.items()},
        "unreadable": [
            {"lease": one.name, "format": one.format, "why": one.why} for one in use.sealed
        ],
    }


def _queued(entry: Queued) -> dict[str, Any]:
    """One gang, its reason in the form of `fourleaf plan -o json`."""
    return {
        "namespace": entry.gang.namespace,
        "name": entry.gang.name,
        "priority": entry.priority,
        "gpus": entry.gpus,
        "pods": entry.pods,
        "since": entry.since,
        **reason_document(entry.reason),
    }


def _problem(problem: Problem) -> dict[str, str]:
    return {
        "object": problem.object,
        "field": problem.field,
        "value": problem.value,
        "message": problem.message,
        "advice": problem.advice,
    }
