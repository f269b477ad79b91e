"""Cycle facts: what a cycle knows when it is reported, and what was reported before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.other_namespaces import as_named, without_others
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Regarding, StatusPatch
from fourleaf.model.config.spec import Messages
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.problems import Problem
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot

Members = Mapping[tuple[str, str], Body | None]
"""Pods of a gang by namespace and name, None where one does not exist."""

Patches = Mapping[tuple[str, str], StatusPatch]
"""What is to be written to pods, by namespace and name."""

Objects = Mapping[Kind, Mapping[tuple[str, str], Body]]
"""Kind -> (namespace, name) -> object, as watched; never changed."""


@dataclass(frozen=True)
class CycleFacts:
    """One cycle: what was seen, what was wrong with it, what was decided. `now` on the wall."""

    snapshot: Snapshot
    plan: Plan
    objects: Objects
    problems: tuple[Problem, ...] = ()
    now: float = 0.0

    def as_read_in(self, namespace: str, text: str) -> str:
        """`text` as pods of `namespace` may say it."""
        if self.messages.other_namespaces == "named":
            return text
        return without_others(text, namespace, self.namespaces)

    @property
    def messages(self) -> Messages:
        """How conditions and events are to be said."""
        return self.snapshot.config.spec.messages

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which gangs wait or pods run."""
        running = map(attrgetter("namespace"), self.snapshot.running)
        return self.snapshot.waiting_namespaces.union(running)

    @cached_property
    def named(self) -> frozenset[str]:
        """The gangs that wait or run, and the pods that run alone, as texts name them."""
        running = self.snapshot.running
        gangs = {*self.snapshot.gangs_by_key, *(pod.gang for pod in running)}
        alone = (pod for pod in running if pod.gang is None)
        return frozenset(as_named(str(one)) for one in (*gangs, *alone))

    @property
    def pods(self) -> Mapping[tuple[str, str], Body]:
        """The pods, by namespace and name."""
        return self.objects.get(PODS, {})


@dataclass(frozen=True, slots=True)
class ReportedReason:
    """Why a gang waits, as last reported: since when this text, and when the last event.

    `words` are the text's but for its numbers, `event_words` those of the last event, `gist` is
    what readers would act on. At `hastened_at` it was last renewed because one it named had ended.
    `answer` is the plan's, `newest` what it says; `text` may be older. What it says may depend on
    whether the namespaces `named` have gangs or pods. `patches` are what was to be
    written for that to the members, which were `seen` then, by namespace and name.
    """

    kind: ReasonKind
    text: str
    at: float
    event_at: float
    words: str = ""
    event_words: str = ""
    gist: str = ""
    hastened_at: float = float("-inf")
    newest: str = ""
    named: frozenset[str] = frozenset()
    answer: Waiting | None = None
    seen: Members = field(default_factory=dict)
    patches: Patches = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemberNews:
    """Pods of a gang whose event of the moment `event_at` is still to be written."""

    event_at: float
    pods: tuple[Regarding, ...]


@dataclass(frozen=True, slots=True)
class ReportedGroup:
    """What was last said in the status of a PodGroup, at which version of it, when."""

    version: str
    status: Body
    at: float


@dataclass(frozen=True, slots=True)
class Reported:
    """What is remembered from cycle to cycle.

    `answers` has what was said of `gangs` by the identity of the plan's answer; all were looked at
    anew at `looked_at`. Of the gangs `untold` the newest is to be said yet: too many changed at
    once. Of `news`, pods are to be told yet why their gang waits. `messages` is how it was to be
    said, `namespaces` are those whose gangs and pods it may name.
    """

    gangs: Mapping[GangKey, ReportedReason] = field(default_factory=dict)
    answers: Mapping[int, ReportedReason] = field(default_factory=dict)
    looked_at: float = float("-inf")
    untold: tuple[GangKey, ...] = ()
    news: Mapping[GangKey, MemberNews] = field(default_factory=dict)
    groups: Mapping[tuple[Kind, str, str], ReportedGroup] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    messages: Messages = field(default_factory=Messages)
    namespaces: frozenset[str] = frozenset()
