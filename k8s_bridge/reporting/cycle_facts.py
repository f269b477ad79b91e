"""Cycle facts: what a cycle knows when it is reported, and what was reported before."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.other_namespaces import without_others
from fourleaf.k8s_bridge.reporting.recorder.queue_items import StatusPatch
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.problems import Problem
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot

Objects = Mapping[Kind, Mapping[tuple[str, str], Body]]
"""Kind -> (namespace, name) -> object, as watched; never changed."""


@dataclass(frozen=True, slots=True)
class CycleFacts:
    """One cycle: what was seen, what was wrong with it, what was decided. `now` on the wall."""

    snapshot: Snapshot
    plan: Plan
    objects: Objects
    problems: tuple[Problem, ...] = ()
    now: float = 0.0

    def as_read_in(self, namespace: str, text: str, namespaces: Collection[str]) -> str:
        """`text` as pods of `namespace` may say it; `namespaces` are all that have pods."""
        if self.snapshot.config.spec.messages.other_namespaces == "named":
            return text
        return without_others(text, namespace, namespaces)

    @property
    def pods(self) -> Mapping[tuple[str, str], Body]:
        """The pods, by namespace and name."""
        return self.objects.get(PODS, {})


@dataclass(frozen=True, slots=True)
class ReportedReason:
    """Why a gang waits, as last reported: since when this text, and when the last event.

    `patches` are what was to be written for that to `pods`, which are as they were seen then.
    """

    kind: ReasonKind
    text: str
    at: float
    event_at: float
    pods: tuple[Body, ...] = ()
    patches: tuple[StatusPatch, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedGroup:
    """What was last said in the status of a PodGroup, at which version of it, when."""

    version: str
    status: Body
    at: float


@dataclass(frozen=True, slots=True)
class Reported:
    """What is remembered from cycle to cycle."""

    gangs: Mapping[GangKey, ReportedReason] = field(default_factory=dict)
    groups: Mapping[tuple[Kind, str, str], ReportedGroup] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def namespaces_of(snapshot: Snapshot) -> frozenset[str]:
    """The namespaces in which gangs wait or pods run."""
    waiting = {gang.key.namespace for gang in snapshot.gangs}
    return frozenset(waiting | {pod.namespace for pod in snapshot.running})
